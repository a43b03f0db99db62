""".nsys-rep and .ncu-rep: handed to nsys and ncu (here scripts), or said how to export."""

import gzip
import subprocess
import time

import pytest
from conftest import FIXTURES
from exported import tables_of
from patience import HANGS_S

REPORTS = [("trace.nsys-rep", "nsys", "nsys/mock.sqlite.gz", "kernel", "nsys export --type sqlite"),
           ("-kernels.ncu-rep", "ncu", "ncu/kernels.raw.csv.gz", "profiled_kernel", "--csv --page raw")]


@pytest.fixture(params=REPORTS, ids=["nsys", "ncu"])
def report(request, tmp_path, monkeypatch):
    """A report, and a PATH on which a script stands for its tool; the script notes how it was called."""
    name, tool, made, table, hint = request.param
    file = tmp_path / name
    file.write_bytes(b"closed\0" * 9)
    (tmp_path / "bin").mkdir()
    (tmp_path / "export").write_bytes(gzip.decompress((FIXTURES / made).read_bytes()))
    script = tmp_path / "bin" / tool
    script.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/called\n[ ! -e {tmp_path}/broken ] || exit 7\n'
                      + (f'cat {tmp_path}/export >"$5"\necho done\n' if tool == "nsys" else f"cat {tmp_path}/export\n"))
    script.chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return file, script, FIXTURES / made, table, hint, scratch


def test_the_tool_exports(program, report):
    file, _, made, table, _, scratch = report
    assert tables_of(program, file)[table] == tables_of(program, made)[table]
    called = (file.parent / "called").read_text()
    assert str(file) in called  # in full, so that a name with a dash is no option
    assert list(scratch.iterdir()) == []


def test_a_planted_tool_in_the_current_folder_is_not_run(program, report, monkeypatch):
    """An empty entry of PATH is the current folder; files next to a report are not trusted."""
    file, script, made, table, _, _ = report
    planted = file.parent / script.name
    planted.write_text(f"#!/bin/sh\ntouch {file.parent}/planted\n")
    planted.chmod(0o755)
    monkeypatch.chdir(file.parent)
    monkeypatch.setenv("PATH", f":.:{script.parent}:/usr/bin:/bin")
    assert tables_of(program, file)[table] == tables_of(program, made)[table]
    assert not (file.parent / "planted").exists()


def test_without_the_tool_it_says_how(program, report):
    file, script, _, _, hint, _ = report
    script.unlink()
    outcome = program.run("report", file)
    assert outcome.status == 3 and len(outcome.errors) == 1
    assert hint in outcome.errors[0] and "is not on PATH" in outcome.errors[0]


def test_the_tool_fails(program, report):
    file, _, _, _, hint, scratch = report
    (file.parent / "broken").touch()
    outcome = program.run("report", file)
    assert outcome.status == 3 and "exit status 7" in outcome.errors[0] and hint in outcome.errors[0]
    assert list(scratch.iterdir()) == []


def test_what_it_holds_comes_before_its_name(program, tmp_path):
    """A file with such an ending whose bytes are known is read as what it is."""
    file = tmp_path / "kernels.ncu-rep"
    file.write_bytes((FIXTURES / "ncu/kernels.raw.csv.gz").read_bytes())
    assert len(tables_of(program, file)["profiled_kernel"]) == 9


def test_killed_while_the_tool_exports(program, report):
    """The folder that nsys writes into is taken away by a process of its own; what ncu prints goes to a file without a name."""
    file, script, _, _, _, scratch = report
    script.write_text(f"#!/bin/sh\ntouch {file.parent}/begun\nexec sleep 3\n")
    child = subprocess.Popen([program.path, "report", file], stdout=subprocess.DEVNULL)
    wait_for((file.parent / "begun").exists)
    assert len(list(scratch.iterdir())) == (1 if script.name == "nsys" else 0)
    child.kill()
    child.wait()
    wait_for(lambda: list(scratch.iterdir()) == [])


def wait_for(happened):
    ends = time.monotonic() + HANGS_S
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.005)
