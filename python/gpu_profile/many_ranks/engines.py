"""Tasks on an engine: threads of this process, anything with `submit`, or Dask.

A task is a batch of files. The largest files go first, and at most four tasks per worker wait in the engine. A task that fails
because its worker was lost is given out once more, file by file. An executor that is broken cannot run anything anymore;
threads of this process take over. If the scheduler itself is lost, EngineLost tells the caller, who has all outcomes so far.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from ..errors import Error
from ..reporting import warn
from .files import RankFile, without_credentials
from .reduction import Outcome, Running, failed, program_version, reduce_batch

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

__all__ = ["EngineLost", "reduce_files"]

_SMALL_BYTES = 5_000_000
_SMALL_FILES_PER_TASK = 16
_TASKS_PER_WORKER = 4
_TRIES = 2
_CONNECT_SECONDS = 10


class EngineLost(Exception):
    """The engine takes or returns no tasks anymore."""


class _Engine(NamedTuple):
    submit: Callable[..., Any]
    workers: int
    versions: Callable[[], dict[str, str]]  # of the program, by worker
    lost: Callable[[], bool]
    batches: bool = True  # small files share a task, because a task costs milliseconds


class _Task(NamedTuple):
    files: list[int]
    tries: int


def reduce_files(files: Sequence[RankFile], client: Any, workers: int | None, *arguments: Any) -> Generator[tuple[int, Outcome], None, None]:
    """Yield the number and outcome of each file, in the order in which they end. ``arguments``: those of `reduce_batch`
    after the files. Raises Error before the first file if a worker has another version, EngineLost when all are lost."""
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(_connected(client, workers))
        _require_version(engine)
        waiting = deque(_tasks(files, _SMALL_FILES_PER_TASK if engine.batches else 1))
        running: dict[int, tuple[_Task, Any]] = {}
        ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        stack.callback(_cancel, running)
        given = 0
        while waiting or running:
            while waiting and len(running) < _TASKS_PER_WORKER * engine.workers:
                task = waiting.popleft()
                try:
                    future = engine.submit(reduce_batch, [tuple(files[number]) for number in task.files], *arguments)
                except BrokenExecutor as problem:
                    warn(f"the executor is broken ({type(problem).__name__}); threads of this process read the other files")
                    waiting.appendleft(task)
                    engine = stack.enter_context(_threads(workers))
                    continue
                except Exception as problem:  # each engine has its own
                    raise EngineLost(_said(problem)) from None
                given += 1
                running[given] = task, future
                _tell(future, ended, given)
            task, future = running.pop(_next(ended, engine))
            try:
                yield from zip(task.files, future.result())
            except CancelledError as problem:
                raise EngineLost(_said(problem)) from None
            except Exception as problem:  # of a worker: killed, out of memory, without this package
                if engine.lost():
                    raise EngineLost(_said(problem)) from None
                if task.tries < _TRIES:
                    waiting.extend(_Task([number], task.tries + 1) for number in task.files)
                else:
                    yield from ((number, failed(f"its worker was lost twice: {_said(problem)}")) for number in task.files)


def _tasks(files: Sequence[RankFile], small_per_task: int) -> Iterator[_Task]:
    order = sorted(range(len(files)), key=lambda number: -files[number].bytes)
    small = [number for number in order if 0 <= files[number].bytes < _SMALL_BYTES]
    large = [number for number in order if files[number].bytes < 0 or files[number].bytes >= _SMALL_BYTES]
    yield from (_Task([number], 1) for number in large)
    yield from (_Task(small[at : at + small_per_task], 1) for at in range(0, len(small), small_per_task))


def _connected(client: Any, workers: int | None) -> contextlib.AbstractContextManager[_Engine]:
    if client is None:
        return _threads(workers)
    if isinstance(client, str):
        return _dask_at(client)
    if hasattr(client, "scheduler_info"):
        return contextlib.nullcontext(_dask(client))
    if not callable(getattr(client, "submit", None)):
        raise Error(2, f"client must be an address, a Dask client or an executor with submit(), not {type(client).__name__}")
    count = workers or getattr(client, "_max_workers", None) or os.cpu_count() or 1
    return contextlib.nullcontext(_executor(client, count))


@contextlib.contextmanager
def _threads(workers: int | None) -> Iterator[_Engine]:
    count = workers or os.cpu_count() or 1
    running = Running()
    with ThreadPoolExecutor(count, "gpu_profile.ranks") as pool:
        try:
            yield _executor(pool, count)._replace(submit=functools.partial(pool.submit, _with(running)), batches=False)
        except BaseException:  # of the caller, such as Ctrl-C: the other files need not be read
            running.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _with(running: Running) -> Callable[..., Any]:
    return lambda function, *arguments: function(*arguments, running=running)


def _executor(pool: Any, count: int) -> _Engine:
    return _Engine(pool.submit, count, lambda: {"a worker": pool.submit(program_version).result()}, lambda: False)


@contextlib.contextmanager
def _dask_at(address: str) -> Iterator[_Engine]:
    try:
        import distributed  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise Error(None, f"cannot connect to {without_credentials(address)}: distributed is missing; run pip install distributed") from None
    try:
        where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
        client = distributed.Client(**where, set_as_default=False, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as problem:
        raise Error(3, f"cannot connect to {without_credentials(address)}: {_said(problem)}") from None
    try:
        yield _dask(client)
    finally:
        client.close()


def _dask(client: Any) -> _Engine:
    def submit(function: Callable[..., Any], *arguments: Any) -> Any:
        return client.submit(function, *arguments, pure=False)

    threads = sum(client.nthreads().values())
    if threads == 0:
        raise Error(3, "the Dask scheduler has no workers; start some and try again")
    return _Engine(submit, threads, lambda: _dask_versions(client), lambda: client.status != "running")


def _dask_versions(client: Any) -> dict[str, str]:
    """Return the versions by worker, without workers that died while they were asked: their tasks tell. An error of any other raises."""
    answers = client.run(program_version, on_error="return")
    errors = [answer for answer in answers.values() if isinstance(answer, Exception) and not _is_of_connection(answer)]
    if errors:
        raise errors[0]
    return {worker: answer for worker, answer in answers.items() if not isinstance(answer, Exception)}


def _is_of_connection(problem: Exception) -> bool:
    """Whether Dask could not reach a worker. OSError itself is what it raises; a missing program is a class below it."""
    return isinstance(problem, (ConnectionError, TimeoutError)) or type(problem) is OSError or type(problem).__name__ == "CommClosedError"


def _require_version(engine: _Engine) -> None:
    own = program_version()
    try:
        versions = engine.versions()
    except BrokenExecutor:
        return  # found again, and dealt with, at the first task
    except Exception as problem:  # a worker without this package or without the program
        raise Error(None, f"a worker cannot run gpu-profile: {_said(problem)}") from None
    for worker, version in versions.items():
        if version != own:
            raise Error(None, f"{worker} has {version}, but this is {own}; install the same version on all workers")


def _tell(future: Any, ended: queue.SimpleQueue[int], number: int) -> None:
    """Have the number put into the queue when the future ends; at once if it cannot tell, and result() waits."""
    if hasattr(future, "add_done_callback"):
        future.add_done_callback(lambda _: ended.put(number))
    else:
        ended.put(number)


def _next(ended: queue.SimpleQueue[int], engine: _Engine) -> int:
    while True:
        try:
            return ended.get(timeout=1)
        except queue.Empty:
            if engine.lost():
                raise EngineLost("the connection was lost") from None


def _cancel(running: dict[int, tuple[_Task, Any]]) -> None:
    for _, future in running.values():
        if hasattr(future, "cancel"):
            with contextlib.suppress(Exception):  # of an engine that is gone
                future.cancel()


def _said(problem: BaseException) -> str:
    text = without_credentials(" ".join(str(problem).split()))[:300]
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
