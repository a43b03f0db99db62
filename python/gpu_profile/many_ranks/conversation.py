"""The conversation with the program about the files of a job (its lines are in cli/ranks/remote_engine.h).

The program says which files to read, and with which words; an engine has them read. Nothing here depends on what a file or an outcome
means: also a failed one is only passed on.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, Callable

from ..atomic_file import atomic_replace
from ..errors import Error
from .engines import EngineLost, reduce_files
from .files import RankFile, is_url, list_files
from .reduction import program_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Progress = Callable[[int, int, int, int], object]

__all__ = ["converse", "tell"]


def converse(hear: Iterator[bytes], say: int, paths: Iterable[str], client: Any, workers: int | None, options: Mapping[str, Any],
             progress: Progress | None = None) -> list[RankFile]:
    """Name the files of a job, and have those read that the program asks for, until it ends. ``say``: a descriptor. Returns the files
    of storages. Raises Error, and BrokenPipeError if the program has ended early."""
    inputs = [file for path in paths for file in (list_files(path, options) if is_url(path) else [_local(path)])]
    for file in inputs:
        tell(say, **({"name": file.name, "bytes": file.bytes, "stamp": file.stamp} if file.url else {"path": file.path}))
    tell(say, inputs=len(inputs))
    tasks: list[dict[str, Any]] = []
    try:
        for line in hear:
            asked = json.loads(line)
            if "number" in asked:
                tasks.append(asked)
            elif "seconds" in asked:
                for answer in _answers(tasks, inputs, client, workers, options, asked["seconds"]):
                    tell(say, **answer)
                    _report(json.loads(next(hear, b"{}")), progress)
                tasks = []
            else:
                _report(asked, progress)
    except EngineLost as lost:
        tell(say, lost=str(lost))
    return [file for file in inputs if file.url]


def tell(say: int, **about: Any) -> None:
    """Write one line. Not through a buffer, which would fail once more when it is closed."""
    line = json.dumps(about).encode() + b"\n"
    while line:
        line = line[os.write(say, line):]


def _local(path: str, size: int = 0) -> RankFile:
    path = os.path.abspath(path)
    return RankFile(path, "", path, size, "")


def _answers(tasks: list[dict[str, Any]], inputs: list[RankFile], client: Any, workers: int | None, options: Mapping[str, Any],
             seconds: float) -> Iterator[dict[str, Any]]:
    """Yield what became of each file, in the order in which they end, when its summary is where it belongs."""
    files = [(inputs[task["input"]] if "input" in task else _local(task["name"], task["bytes"]))._replace(words=tuple(task["words"])) for task in tasks]
    with contextlib.closing(reduce_files(files, client, workers, options, program_version(), seconds)) as outcomes:
        for at, (summary, status, said, free) in outcomes:
            if summary is not None:
                _write(tasks[at]["summary"], summary)
            yield {"number": tasks[at]["number"], "status": status, "said": said, "free": free}


def _report(counts: dict[str, int], progress: Progress | None) -> None:
    if progress is not None and "done" in counts:
        progress(counts["done"], counts["files"], counts["bytes"], counts["lost"])


def _write(path: str, summary: bytes) -> None:
    try:
        with atomic_replace(path, private=True) as part, open(part, "wb") as made:
            made.write(summary)
    except OSError as problem:
        raise Error(5, f"cannot write {path}: {problem.strerror}") from None
