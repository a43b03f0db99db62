"""The scripts for a machine with a GPU (tests/gpu): that they are sound, and say why when they cannot run."""

import ast
import os
import shutil
import subprocess

import pytest
from recordings_of_cupti import ROOT

SCRIPTS = sorted((ROOT / "tests/gpu").glob("*.sh"))
PROGRAMS = sorted((ROOT / "tests/gpu/workloads").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_it_parses(script):
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", "-x", script.name], cwd=script.parent, check=False).returncode == 0


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_its_programs_parse(program):
    ast.parse(program.read_text())


@pytest.mark.parametrize("script", ["overhead.sh", "record.sh"])
def test_it_says_why_it_did_not_run(program, script):
    def run(binary):
        return subprocess.run([ROOT / "tests/gpu" / script], env={**os.environ, "GPUPROF_BIN": binary}, capture_output=True,
                              text=True, timeout=60, check=False)

    done = run("/nowhere/gpu-profile")
    assert (done.returncode, done.stdout.count("\n")) == (77, 1)
    assert done.stdout.startswith("not run: no gpu-profile at /nowhere/gpu-profile")
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU here, and the script takes minutes: run it by hand")
    done = run(str(program.path))
    assert (done.returncode, done.stdout) == (77, "not run: no GPU here: there is no nvidia-smi\n")
