"""The decorator gpu_profile: monitors every call of a function, a coroutine function or a generator function.

A call is the outermost one: recursive calls in the same thread or task are part of it, are not monitored again, and
return plain values. A generator's region lasts from the request for its first item to its end, including the time of
its consumer. An exception of the function ends the region, is noted in the summary, and is raised again.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncGenerator, Generator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar, overload

from .arguments import Device, check_runs, is_device
from .monitor import GpuMonitor
from .reporting import Report

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Literal, Protocol

    from typing_extensions import ParamSpec

    from .call import Call, ProfiledResult
    from .repeats import MultiRunResult
    from .summary import GpuSummary

    P = ParamSpec("P")
    T = TypeVar("T")
    G = TypeVar("G")
    F = TypeVar("F", bound=Callable[..., Any])

    class Plain(Protocol):
        """A decorator that keeps the type of its function."""

        def __call__(self, fn: F, /) -> F: ...

    class Returning(Protocol[G]):
        """A decorator whose functions return ProfiledResult."""

        @overload
        def __call__(  # type: ignore[overload-overlap]
            self, fn: Callable[P, Coroutine[Any, Any, T]], /
        ) -> Callable[P, Coroutine[Any, Any, ProfiledResult[T, G]]]: ...
        @overload
        def __call__(self, fn: Callable[P, T], /) -> Callable[P, ProfiledResult[T, G]]: ...


__all__ = ["gpu_profile"]


@overload
def gpu_profile(device: F, /) -> F: ...
@overload
def gpu_profile(
    device: Device = ..., interval_s: float = ..., backend: str = ..., strict: bool = ...,
    sync_fn: Callable[[], object] | None = ..., warmup_s: float = ..., store_samples: bool = ..., report: Report = ...,
    return_profile: Literal[False] = ..., repeats: int = ..., warmup_runs: int = ..., max_samples: int | None = ...,
) -> Plain: ...
@overload
def gpu_profile(  # type: ignore[overload-overlap]
    device: Device = ..., interval_s: float = ..., backend: str = ..., strict: bool = ...,
    sync_fn: Callable[[], object] | None = ..., warmup_s: float = ..., store_samples: bool = ..., report: Report = ...,
    *, return_profile: Literal[True], repeats: Literal[1] = ..., warmup_runs: int = ..., max_samples: int | None = ...,
) -> Returning[GpuSummary]: ...
@overload
def gpu_profile(
    device: Device = ..., interval_s: float = ..., backend: str = ..., strict: bool = ...,
    sync_fn: Callable[[], object] | None = ..., warmup_s: float = ..., store_samples: bool = ..., report: Report = ...,
    *, return_profile: Literal[True], repeats: int, warmup_runs: int = ..., max_samples: int | None = ...,
) -> Returning[MultiRunResult]: ...
def gpu_profile(
    device: Any = 0,
    interval_s: float = 0.2,
    backend: str = "auto",
    strict: bool = False,
    sync_fn: Callable[[], object] | None = None,
    warmup_s: float = 0.0,
    store_samples: bool = False,
    report: Report = True,
    return_profile: bool = False,
    repeats: int = 1,
    warmup_runs: int = 0,
    max_samples: int | None = None,
    *,
    _monitor: type[GpuMonitor] = GpuMonitor,
) -> Any:
    """Monitor the device during every call of a function: ``@gpu_profile`` or ``@gpu_profile(interval_s=0.05)``.

    The first seven arguments and ``max_samples`` are those of GpuMonitor.
    ``report``: True (default) prints the summary to standard error, False prints nothing; a callable receives it (a
    GpuSummary per device, or a MultiRunResult if ``repeats`` > 1). ``return_profile``: return ProfiledResult(value,
    gpu) (default False).
    ``repeats``: monitored calls per call (default 1). ``warmup_runs``: unmonitored calls before them (default 0).
    Raises ValueError or TypeError for invalid arguments.
    """
    if isinstance(device, (staticmethod, classmethod)) or (callable(device) and not is_device(device)):
        return decorate(device, Plan(_monitor))  # used without parentheses
    check_runs(repeats, warmup_runs)
    monitor = functools.partial(_monitor, device, interval_s, backend, strict, sync_fn, warmup_s, store_samples, max_samples)
    monitor()  # raises invalid arguments at the decoration
    plan = Plan(monitor, report, return_profile, repeats, warmup_runs)
    return functools.partial(decorate, plan=plan)


class Plan(NamedTuple):
    """The plan for monitoring calls of a function."""

    monitor: Callable[[], GpuMonitor]
    report: Report = True
    return_profile: bool = False
    repeats: int = 1
    warmup_runs: int = 0


def decorate(fn: Any, plan: Plan) -> Any:
    """Return `fn` wrapped with monitoring. It remains the same kind of function."""
    import inspect

    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(decorate(fn.__func__, plan))
    if not callable(fn):
        raise TypeError(f"cannot decorate {fn!r}: expected a function")
    body = fn if inspect.isroutine(fn) or isinstance(fn, functools.partial) else type(fn).__call__
    outermost = Outermost(plan)
    if inspect.isasyncgenfunction(body):
        _refuse_runs(fn, plan)
        if plan.return_profile:
            raise TypeError(f"return_profile=True cannot be used with {_name(fn)}: an asynchronous generator returns no value; use report=FUNCTION")
        wrapper: Any = _async_generator(fn, outermost)
    elif inspect.isgeneratorfunction(body):
        _refuse_runs(fn, plan)
        wrapper = _generator(fn, outermost)
    elif inspect.iscoroutinefunction(body):
        wrapper = _coroutine(fn, plan, outermost)
    else:
        wrapper = _function(fn, plan, outermost)
    return functools.wraps(fn)(wrapper)


class Outermost:
    """Tracks, per thread and task, whether a call of one function is active."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._call: ContextVar[Call | None] = ContextVar("call", default=None)

    def begin(self) -> Call | None:
        """Return a new call, or None inside an active call."""
        from .call import Call

        around = self._call.get()
        return None if around is not None and around.goes_on() else Call(self._plan)

    @contextlib.contextmanager
    def inside(self, call: Call | None) -> Iterator[None]:
        """Mark the call as active while the function itself runs."""
        if call is None:
            yield
            return
        token = self._call.set(call)
        try:
            yield
        finally:
            self._call.reset(token)


def _function(fn: Callable[..., Any], plan: Plan, outermost: Outermost) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        work = outermost.begin()
        if work is None:
            return fn(*args, **kwargs)
        value = None
        with outermost.inside(work):
            for _ in range(plan.warmup_runs):
                fn(*args, **kwargs)
            for _ in range(plan.repeats):
                with work:
                    value = fn(*args, **kwargs)
        return work.finish(value)

    return call


def _coroutine(fn: Callable[..., Any], plan: Plan, outermost: Outermost) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        work = outermost.begin()
        if work is None:
            return await fn(*args, **kwargs)
        value = None
        with outermost.inside(work):
            for _ in range(plan.warmup_runs):
                await fn(*args, **kwargs)
            for _ in range(plan.repeats):
                with work:
                    value = await fn(*args, **kwargs)
        return work.finish(value)

    return call


def _generator(fn: Callable[..., Any], outermost: Outermost) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        work = outermost.begin()
        if work is None:
            return (yield from fn(*args, **kwargs))
        with work:
            value = yield from _stepped(fn(*args, **kwargs), work, outermost)
        return work.finish(value)

    return call


def _stepped(generator: Generator[Any, Any, Any], work: Call, outermost: Outermost) -> Generator[Any, Any, Any]:
    """Like `yield from generator`, but the call is active only while the generator runs, not its consumer."""
    step: Callable[[Any], Any] = generator.send
    argument: Any = None
    while True:
        try:
            with outermost.inside(work):
                item = step(argument)
        except StopIteration as end:
            return end.value
        try:
            argument = yield item
            step = generator.send
        except GeneratorExit:
            generator.close()
            raise
        except BaseException as problem:
            step = generator.throw
            argument = problem


def _async_generator(fn: Callable[..., Any], outermost: Outermost) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        work = outermost.begin()
        generator: AsyncGenerator[Any, Any] = fn(*args, **kwargs)
        step: Callable[[Any], Any] = generator.asend
        argument: Any = None
        with contextlib.nullcontext() if work is None else work:
            while True:  # as in _stepped(): asynchronous generators have no `yield from`
                try:
                    with outermost.inside(work):
                        item = await step(argument)
                except StopAsyncIteration:
                    break
                try:
                    argument = yield item
                    step = generator.asend
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as problem:
                    step = generator.athrow
                    argument = problem
        if work is not None:
            work.finish(None)

    return call


def _refuse_runs(fn: Any, plan: Plan) -> None:
    if plan.repeats > 1 or plan.warmup_runs > 0:
        raise TypeError(f"cannot use repeats or warmup_runs with {_name(fn)}: a generator can run only once")


def _name(fn: Any) -> str:
    return str(getattr(fn, "__qualname__", fn))
