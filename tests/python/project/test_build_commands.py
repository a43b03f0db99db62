"""`./run` on a fresh machine, then `./test`, which installs ccache: no object may be compiled a second time for that."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def configured(folder, path):
    """What the build would execute, with the tools in `path`."""
    environment = dict(os.environ, PATH=str(path))
    subprocess.run(["cmake", "--preset", "release", "-B", str(folder)], cwd=ROOT, env=environment, check=True, capture_output=True)
    commands = json.loads((folder / "compile_commands.json").read_text())
    return sorted(command["command"] for command in commands)


def tools_but(folder, *left_out):
    """A folder with links to all tools in PATH but some."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            if tool.name not in left_out:
                (folder / tool.name).unlink(missing_ok=True)
                (folder / tool.name).symlink_to(tool)
    return folder


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_compiler_cache_that_is_installed_later_changes_no_command(tmp_path):
    tools, build = tools_but(tmp_path / "tools", "ccache", "mold"), tmp_path / "build"
    before = configured(build, tools)
    shutil.rmtree(build)
    (tools / "ccache").symlink_to("/bin/true")
    assert configured(build, tools) == before and len(before) > 50


def test_the_launcher_compiles_without_a_cache_and_with_one(tmp_path):
    launcher, called = ROOT / "cmake" / "launcher", tmp_path / "called"
    plain = tools_but(tmp_path / "plain", "ccache")
    run = subprocess.run([launcher, "sh", "-c", f"echo $0 $CCACHE_BASEDIR >{called}"], env={"PATH": str(plain)}, check=False)
    assert run.returncode == 0 and called.read_text() == "sh\n"
    cache = plain / "ccache"
    cache.write_text(f'#!/bin/sh\necho "$1 $CCACHE_BASEDIR" >{called}\nexit 3\n')
    cache.chmod(0o755)
    assert subprocess.run([launcher, "sh", "-c", "true"], env={"PATH": str(plain)}, check=False).returncode == 3
    assert called.read_text() == f"sh {ROOT}\n"
