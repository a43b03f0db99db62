"""The program gpu-profile, as Python uses it: where it is, its report of a trace as objects, and the console script.

``report(file)`` runs the program and returns its JSON envelope, so Python, the command line and the other formats can
never disagree. This module does not read traces itself and prints nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .errors import Error

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["binary", "report"]


def binary() -> str:
    """The path of the program: GPUPROF_BIN, else the wheel's, else the build of this checkout, else the one on PATH.

    Raises Error when there is none.
    """
    named = os.environ.get("GPUPROF_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(None, f"GPUPROF_BIN is {named}, which is no program")
        return named
    for path in built_files("gpu-profile"):
        if os.access(path, os.X_OK):
            return path
    import shutil

    found = shutil.which("gpu-profile")
    if found is None or _is_console_script(found):
        raise Error(None, "gpu-profile is not on PATH; build it with ./run, or name it in GPUPROF_BIN")
    return found


def built_files(name: str) -> list[str]:
    """Where a file that CMake builds is looked for: in the installed package, then in the builds of this checkout."""
    package = os.path.dirname(os.path.realpath(__file__))
    build = os.path.join(os.path.dirname(os.path.dirname(package)), "build")
    folders = (os.path.join(package, "_native"), os.path.join(build, "release"), os.path.join(build, "dev"))
    return [os.path.join(folder, name) for folder in folders]


def report(file: str | os.PathLike[str], *analyses: str, **options: Any) -> dict[str, Any]:
    """The report of a trace or capture: tool, version, source, trust, tables, verdict and findings.

    ``analyses`` are names as on the command line; none asks for the first answer. ``options`` are the options of the
    command line with underscores: ``limit=0`` is ``--limit 0``, ``True`` a bare flag, ``None`` and ``False`` nothing.
    Raises Error with the program's exit code and message.
    """
    import json
    import subprocess

    command = [binary(), "report", os.fspath(file), *analyses, "--format", "json", *_arguments(options)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as problem:
        raise Error(None, f"cannot start {command[0]}: {problem.strerror}") from problem
    if done.returncode != 0:
        raise Error(done.returncode, _last_line(done.stderr) or f"gpu-profile ended with {done.returncode}")
    envelope: dict[str, Any] = json.loads(done.stdout)
    return envelope


def run_program() -> NoReturn:
    """The console script `gpu-profile`: becomes the program, with the same arguments, streams and process id."""
    import sys

    try:
        program = binary()
        if sys.argv[1:2] in (["bench"], ["evaluate"]):  # what is timed or judged runs in the environment that this script belongs to
            os.environ.setdefault("GPUPROF_PYTHON", sys.executable)
        os.execv(program, [program, *sys.argv[1:]])
    except Error as problem:
        print(f"gpu-profile: {problem.message}", file=sys.stderr)
    except OSError as problem:
        print(f"gpu-profile: cannot start {program}: {problem.strerror}", file=sys.stderr)
    sys.exit(127)  # as a shell says of a command that it cannot find


def _is_console_script(path: str) -> bool:
    # The script of an environment calls run_program(): running it from here would never end.
    with open(path, "rb") as file:
        return file.read(2) == b"#!" and b"gpu_profile" in file.read(4096)


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
