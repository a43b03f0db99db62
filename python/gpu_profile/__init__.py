"""gpu_profile: the answers of gpu-profile as Python objects.

``report(file)`` runs the program and returns its JSON envelope, so Python, the command line and the other formats can
never disagree. A user's mistake is one ``Error`` with the program's exit code and its one line; nothing is printed.
This module does not read traces itself and needs no package besides Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

__version__ = "0.1.0"
__all__ = ["Error", "binary", "report", "__version__"]


class Error(Exception):
    """What went wrong, in one line (``message``), and the program's exit code (``code``, None: it could not start)."""

    def __init__(self, code: int | None, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def binary() -> str:
    """The path of the program: GPUPROF_BIN, else the build of this checkout, else the one on PATH.

    Raises Error when there is none.
    """
    named = os.environ.get("GPUPROF_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(None, f"GPUPROF_BIN is {named}, which is no program")
        return named
    checkout = Path(__file__).resolve().parents[2]
    for preset in ("release", "dev"):
        built = checkout / "build" / preset / "gpu-profile"
        if os.access(built, os.X_OK):
            return str(built)
    found = shutil.which("gpu-profile")
    if found is None:
        raise Error(None, "gpu-profile is not on PATH; build it with ./run, or name it in GPUPROF_BIN")
    return found


def report(file: str | os.PathLike[str], *analyses: str, **options: Any) -> dict[str, Any]:
    """The report of a trace or capture: tool, version, source, trust, tables, verdict and findings.

    ``analyses`` are names as on the command line; none asks for the first answer. ``options`` are the options of the
    command line with underscores: ``limit=0`` is ``--limit 0``, ``True`` a bare flag, ``None`` and ``False`` nothing.
    Raises Error with the program's exit code and message.
    """
    command = [binary(), "report", os.fspath(file), *analyses, "--format", "json", *_arguments(options)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as problem:
        raise Error(None, f"cannot start {command[0]}: {problem.strerror}") from problem
    if done.returncode != 0:
        raise Error(done.returncode, _last_line(done.stderr) or f"gpu-profile ended with {done.returncode}")
    return json.loads(done.stdout)


def _arguments(options: dict[str, Any]) -> list[str]:
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(str(value))
    return arguments


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
