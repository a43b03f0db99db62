"""The Python package: it finds the program, returns what the program says, and turns failures into one Error."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

import gpu_profile
from gpu_profile import program as program_module

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"


@pytest.fixture
def impostor(tmp_path, monkeypatch):
    """A program that records its arguments and answers as it is told."""

    def make(script):
        program = tmp_path / "gpu-profile"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{tmp_path}/arguments"\n{script}\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("GPUPROF_BIN", str(program))
        return lambda: (tmp_path / "arguments").read_text().split("\n")[:-1]

    return make


def test_versions_agree():
    printed = subprocess.run([gpu_profile.binary(), "--version"], capture_output=True, text=True, check=True).stdout
    assert gpu_profile.__version__ in printed.split()
    assert f'version = "{gpu_profile.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_first_answer_of_the_example():
    envelope = gpu_profile.report(EXAMPLE)
    assert envelope["tool"] == "gpu-profile"
    assert envelope["verdict"]["name"] == "input-bound"
    assert envelope["findings"]


def test_analysis_and_options_reach_the_program():
    (table,) = gpu_profile.report(EXAMPLE, "kernels", limit=3)["tables"]
    assert table["name"] == "kernels"
    assert len(table["rows"]) == 3
    assert [column["name"] for column in table["columns"]][:3] == ["name", "count", "total_ns"]


def test_unreadable_file_is_code_3(tmp_path):
    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.report(tmp_path / "absent.json")
    assert caught.value.code == 3
    assert "absent.json" in caught.value.message
    assert "\n" not in caught.value.message


def test_unknown_analysis_is_code_2():
    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.report(EXAMPLE, "kernelz")
    assert caught.value.code == 2
    assert "kernelz" in caught.value.message


def test_options_become_arguments(impostor):
    arguments = impostor("echo '{}'")
    gpu_profile.report("x", "gaps", limit=0, min_gap_ns=5, strict=True, device=None, quiet=False)
    assert arguments() == "report x gaps --format json --limit 0 --min-gap-ns 5 --strict".split()


def test_failure_without_a_word_still_says_something(impostor):
    impostor("exit 6")
    with pytest.raises(gpu_profile.Error) as caught:
        gpu_profile.report("x")
    assert caught.value.code == 6 and "6" in caught.value.message


def test_named_binary_that_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUPROF_BIN", str(tmp_path / "nothing"))
    with pytest.raises(gpu_profile.Error, match="nothing' is not an executable"):
        gpu_profile.binary()


def test_no_binary_anywhere(monkeypatch, tmp_path):
    monkeypatch.delenv("GPUPROF_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program_module, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    with pytest.raises(gpu_profile.Error, match="build it with ./run") as caught:
        gpu_profile.binary()
    assert caught.value.code is None


def test_path_is_the_last_resort(monkeypatch, tmp_path):
    program = tmp_path / "gpu-profile"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.delenv("GPUPROF_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program_module, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    assert gpu_profile.binary() == os.fspath(program)
