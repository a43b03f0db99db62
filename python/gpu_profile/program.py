"""The program gpu-profile from Python: its path, its report of a recording as objects, and the console script.

``report(file)`` runs the program and returns its JSON envelope, so that Python, the command line and the other formats
always agree. This module does not read recordings itself and prints nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .errors import Error

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["answer", "binary", "report"]


def binary() -> str:
    """Return the path of the program: GPUPROF_BIN, otherwise the wheel's, this checkout's build, or the one on PATH.

    Raises Error if it is not found.
    """
    named = os.environ.get("GPUPROF_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise Error(None, f"GPUPROF_BIN '{named}' is not an executable file")
        return named
    for path in built_files("gpu-profile"):
        if os.access(path, os.X_OK) and not _is_console_script(path):
            return path
    import shutil

    found = shutil.which("gpu-profile")
    if found is None or _is_console_script(found):
        raise Error(None, "cannot find gpu-profile on PATH; build it with ./run, or set GPUPROF_BIN to its path")
    return found


def built_files(name: str) -> list[str]:
    """Return the possible paths of a file that CMake builds: in the package, elsewhere in its distribution, then in
    the builds of this checkout."""
    package = os.path.dirname(os.path.realpath(__file__))
    build = os.path.join(os.path.dirname(os.path.dirname(package)), "build")
    inside = os.path.join(package, "_native", name)
    if os.path.exists(inside):
        return [inside]
    builds = [os.path.join(build, preset, name) for preset in ("release", "dev")]
    return [inside, *_distributed_files(package, name), *builds]


def _distributed_files(package: str, name: str) -> list[str]:
    """Return the files of this name that were installed together with the package, outside it: a portable wheel puts the
    program into the folder of commands and libraries into lib/gpu-profile."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution("gpu-profile")
    except PackageNotFoundError:
        return []
    if os.path.realpath(str(found.locate_file("gpu_profile"))) != package:  # another installation
        return []
    return [os.path.realpath(str(file.locate())) for file in found.files or () if file.name == name]


def report(file: str | os.PathLike[str], *analyses: str, **options: Any) -> dict[str, Any]:
    """Return the report of a recording as a dictionary: tool, version, source, trust, tables, verdict and findings.

    ``analyses``: names as on the command line (default: the first answer). ``options``: options of the command line
    with underscores: ``limit=0`` is ``--limit 0``, ``True`` a flag without value; ``None`` and ``False`` are ignored.
    Raises Error with the program's exit code and message.
    """
    import json

    envelope: dict[str, Any] = json.loads(answer("report", os.fspath(file), *analyses, "--format", "json", *_arguments(options)))
    return envelope


def answer(*arguments: str, folder: str | None = None) -> bytes:
    """Run the program, in a folder, and return what it prints. Raises Error with its exit code and message."""
    import subprocess

    command = [os.path.abspath(binary()), *arguments]
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as problem:
        raise Error(None, f"cannot start {command[0]}: {problem.strerror}") from problem
    if done.returncode != 0:
        raise Error(done.returncode, _last_line(done.stderr) or f"gpu-profile failed with exit code {done.returncode}")
    return done.stdout


def run_program() -> NoReturn:
    """Run the console script `gpu-profile`: replaces this process by the program, with the same arguments and
    streams."""
    import sys

    try:
        program = binary()
        if sys.argv[1:2] in (["bench"], ["evaluate"], ["mcp"], ["ranks"], ["tune"]):  # Python runs in the environment of this script
            os.environ.setdefault("GPUPROF_PYTHON", sys.executable)
        os.execv(program, [program, *sys.argv[1:]])
    except Error as problem:
        print(f"gpu-profile: {problem.message}", file=sys.stderr)
    except OSError as problem:
        print(f"gpu-profile: cannot start {program}: {problem.strerror}", file=sys.stderr)
    sys.exit(127)  # the shell's code for a command not found


def _is_console_script(path: str) -> bool:
    # The console script calls run_program(), so running it from here would loop forever.
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
