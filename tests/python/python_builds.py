"""CPython 3.13t, 3.14 and 3.14t: interpreters without a library, from the wheels of freeze-core, which embed them for frozen programs.

They are downloaded into build/pythons on first use, by one process at a time (42 MB). GPUPROF_PYTHON_BUILDS names another folder with them.
What cannot be had is a reason to skip. Such an interpreter runs one file, as `build(path)` says, and has only the modules that are part of it.
"""

import fcntl
import os
import shutil
import sysconfig
import zipfile
from pathlib import Path

from patience import HANGS_S
from wheels import need_x86_linux, pip

ROOT = Path(__file__).resolve().parents[2]
WHEELS = {"3.13t": ("0.6.1", "3.13", "cp313t"), "3.14": ("0.8.1", "3.14", "cp314"), "3.14t": ("0.8.1", "3.14", "cp314t")}

# What the frozen program starts: it runs the file that its first argument names.
START = """
import sys

def init():
    pass

def run(*_):
    del sys.argv[0]
    with open(sys.argv[0], encoding="utf-8") as file:
        code = compile(file.read(), sys.argv[0], "exec")
    exec(code, {"__name__": "__main__"})
"""


def download(name, folder):
    version, python, abi = WHEELS[name]
    pip("download", "freeze-core", HANGS_S, "--dest", folder, "--python-version", python, "--implementation", "cp", "--abi", abi,
        "--platform", "manylinux_2_17_x86_64", f"freeze-core=={version}")
    return next(folder.glob("*.whl"))


def install(name, folder):
    library = folder / "lib"
    shutil.rmtree(folder, ignore_errors=True)
    library.mkdir(parents=True)
    wheel = download(name, folder)
    with zipfile.ZipFile(wheel) as archive:
        program = next(each for each in archive.namelist() if "/console-cpython-" in each)
        (folder / f"python{name}").write_bytes(archive.read(program))
    wheel.unlink()
    (folder / f"python{name}").chmod(0o755)
    # The only module without which an interpreter does not start; ours serves any version.
    shutil.copytree(Path(sysconfig.get_path("stdlib")) / "encodings", library / "encodings", ignore=shutil.ignore_patterns("__pycache__"))
    for start in ("__startup__.py", "__init__python3.py"):
        (library / start).write_text(START, encoding="utf-8")


def find_build(name):
    """The path of the interpreter; raises Unavailable with the reason."""
    need_x86_linux()
    folder = Path(os.environ.get("GPUPROF_PYTHON_BUILDS", ROOT / "build/pythons"))
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name / f"python{name}"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = folder / name / "installed"
        wanted = repr((WHEELS[name], START))
        if not (stamp.exists() and stamp.read_text() == wanted):
            install(name, folder / name)
            stamp.write_text(wanted)
    return program
