"""The wheel in an empty environment of every Python that can be found (by day the oldest and the newest): it works from another directory, carries what
it needs, and its console script is the program. `./test` builds it into build/wheel from what is compiled already."""

import functools
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import replayed
from nightly import NIGHTLY

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
CARRIED = ("libfmt.so", "libsimdjson.so", "libzstd.so")

USE = """
import asyncio, json, sys
def loaded():
    with open("/proc/self/maps") as file:
        return {line.split()[-1] for line in file if ".so" in line}
before = loaded()
import gpu_profile
from gpu_profile import GpuMonitor, gpu_profile as decorator
with GpuMonitor(backend=sys.argv[1], store_samples=True) as monitor:
    pass
ours = loaded() - before
reports = []
profiled = decorator(backend=sys.argv[1], report=reports.append)
async def coroutine():
    await asyncio.sleep(0)
async def async_generator():
    yield 1
async def consume():
    return [item async for item in profiled(async_generator)()]
profiled(lambda: None)()
asyncio.run(profiled(coroutine)())
assert list(profiled(lambda: (yield 1))()) == asyncio.run(consume()) == [1]
runs = gpu_profile.profile_repeats(lambda: None, 2, 1, backend=sys.argv[1])
print(json.dumps({"file": gpu_profile.__file__, "binary": gpu_profile.binary(), "before": sorted(before), "loaded": sorted(ours),
                  "summary": monitor.summary.to_dict(), "samples": len(monitor.samples),
                  "reported": [one.util_gpu_mean for one in reports], "runs": runs.to_dict(), "text": monitor.summary.format()}))
"""


def clean_environment():
    """Without anything that points to this checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GPUPROF_", "PYTHON", "PYENV_"))}


def version_of(interpreter):
    """"3.9" of one that works, else None: a shim may stand where no Python is."""
    command = [interpreter, "-c", "import sys, venv, ctypes; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@functools.cache
def interpreters():
    """One interpreter per version: on PATH, or where pyenv keeps its own."""
    candidates = [shutil.which(f"python{version}") for version in VERSIONS]
    candidates += [sys.executable, *map(str, sorted((Path.home() / ".pyenv" / "versions").glob("*/bin/python")))]
    found = {}
    for candidate in filter(None, candidates):
        found.setdefault(version_of(candidate), candidate)
    return {version: found[version] for version in VERSIONS if version in found}


@pytest.fixture(scope="module")
def wheel():
    wheels = list((ROOT / "build" / "wheel").glob("*.whl"))
    if not wheels:
        pytest.skip("there is no build/wheel/*.whl; ./test builds it")
    (wheel,) = wheels
    return wheel


def run(*command, cwd):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("version", VERSIONS)
def test_wheel_in_an_empty_environment(version, wheel, tmp_path):
    found = interpreters()
    if version not in found:
        pytest.skip(f"there is no Python {version} here")
    if not NIGHTLY and version not in (min(found, key=VERSIONS.index), max(found, key=VERSIONS.index)):
        pytest.skip("by day the oldest and the newest Python")
    import json

    environment = tmp_path / "venv"
    run(found[version], "-m", "venv", "--without-pip", environment, cwd=tmp_path)
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    answer = json.loads(run(python, "-c", USE, replayed.all_at_once(replayed.BURSTY), cwd=tmp_path))

    expected = replayed.expected(replayed.BURSTY)
    for field in ("util_gpu_mean", "util_gpu_p95", "energy_j", "duration_s"):
        assert answer["summary"][field] == pytest.approx(expected[field]), field
    assert answer["samples"] == expected["n_samples"]
    assert answer["reported"] == pytest.approx([expected["util_gpu_mean"]] * 4)
    assert answer["runs"]["stats"]["energy"]["values"] == pytest.approx([expected["energy_j"]] * 2)
    assert answer["text"].startswith("gpu-profile: GPU 0")

    package = Path(answer["file"]).parent
    assert package.is_relative_to(environment)
    assert Path(answer["binary"]) == package / "_native" / "gpu-profile"
    for name in ("libgpuprof.so", *CARRIED):
        loaded = [path for path in answer["loaded"] if Path(path).name.startswith(name)]
        if any(Path(path).name.startswith(name) for path in answer["before"]):  # by Python itself: Debian 13's libcrypto needs libzstd
            assert not loaded, f"{name} is loaded twice"
        else:
            (path,) = loaded
            assert Path(path).is_relative_to(package / "_native"), f"{name} is not the one of the wheel"

    script = environment / "bin" / "gpu-profile"
    assert run(script, "--version", cwd=tmp_path) == run(answer["binary"], "--version", cwd=tmp_path)
    assert "input-bound" in run(script, "report", ROOT / "examples" / "input_bound.json.gz", cwd=tmp_path)


def test_what_the_wheel_carries(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    native = sorted(Path(name).name for name in names if "/_native/" in name)
    for library in CARRIED:
        assert any(name.startswith(library) for name in native), native
    assert {"gpu-profile", "libgpuprof.so"} <= set(native)
    sources = {path.name for path in (ROOT / "python" / "gpu_profile").iterdir() if path.suffix in (".py", ".typed")}
    assert {name.split("/")[1] for name in names if name.count("/") == 1 and name.startswith("gpu_profile/")} == sources
    assert wheel.name.startswith("gpu_profile-")
    assert "-py3-none-linux_" in wheel.name


def test_console_script_without_a_program(tmp_path):
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from gpu_profile.program import run_program; run_program()"
    shutil.copytree(ROOT / "python" / "gpu_profile", tmp_path / "python" / "gpu_profile")
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(tmp_path / "python"), "--version"],
        env={**clean_environment(), "PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.startswith("gpu-profile: ") and "GPUPROF_BIN" in done.stderr and done.stderr.count("\n") == 1


def test_this_checkout_from_anywhere(tmp_path):
    """./test installs gpu_profile in .venv, with the library of build/release."""
    if not (ROOT / "build" / "release" / "libgpuprof.so").exists():
        pytest.skip("build/release/libgpuprof.so is not built")
    import json

    answer = json.loads(run(sys.executable, "-c", USE, replayed.all_at_once(replayed.BURSTY), cwd=tmp_path))
    assert Path(answer["file"]).parent == ROOT / "python" / "gpu_profile"
    assert str(ROOT / "build" / "release" / "libgpuprof.so") in answer["loaded"]
