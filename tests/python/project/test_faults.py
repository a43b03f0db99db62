"""Calls that fail: reads, writes, SQLite's, processes, allocations; a few of what tests/soak/faults.py tries."""

import shutil
import sys
from pathlib import Path

import pytest

from injected import sanitized

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))

from fault_commands import Inputs  # noqa: E402
from faults import Trials, Trouble, attempt, build_tools, faults_of, host_troubles, tracing_works  # noqa: E402

SAMPLE = [("report kineto.json.gz", "read", 16), ("report nsys.sqlite", "sqlite", 16), ("report dump", "read", 8), ("source", "read", 60), ("history list", "read", 30),
          ("export nsys", "write", 16), ("history add", "write", 16), ("ranks reduce", "write", 8), ("profile", "write", 24), ("record", "write", 8),
          ("report kineto.json.gz", "process", 8), ("record", "process", 8), ("report nsys.sqlite", "alloc", 12), ("history add", "alloc", 12),
          ("export capture", "alloc", 12), ("bench compare", "alloc", 12), ("profile", "alloc", 24), ("record", "alloc", 8)]


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("tools")
    build_tools(folder)
    return folder


@pytest.fixture(scope="module")
def inputs(program, tmp_path_factory):
    return Inputs(Path(program.path), tmp_path_factory.mktemp("inputs"))


@pytest.mark.parametrize(("name", "kind", "most"), SAMPLE)
def test_a_call_that_fails_is_said_and_leaves_no_half_file(program, tools, inputs, tmp_path, name, kind, most):
    if kind == "alloc" and sanitized(program):
        pytest.skip("the sanitizers of this build have their own malloc")
    if kind != "alloc" and not tracing_works(tools):
        pytest.skip("processes cannot be traced here")
    trials = Trials(name, Path(program.path), tools, inputs, tmp_path)
    cases = faults_of(trials, kind, most)
    assert cases
    assert [trouble for trouble in map(attempt, cases) if trouble] == []


@pytest.mark.parametrize("every", [False, True])
def test_a_host_that_is_short_of_memory_gets_errors(program, tools, inputs, every):
    if sanitized(program):
        pytest.skip("the sanitizers of this build have their own malloc")
    troubles, tries = host_troubles(Path(program.path), tools, inputs, 40, every)
    assert troubles == [] and tries > 30


def test_the_faults_strike(program, tools, inputs, tmp_path):
    """A judge that accepts everything would find nothing."""
    if not tracing_works(tools):
        pytest.skip("processes cannot be traced here")
    trials = Trials("export folded", Path(program.path), tools, inputs, tmp_path)
    trials.whole.files["out"] = b"another file\n"
    with pytest.raises(Trouble, match="left out of"):
        trials.judge("nothing", trials._run("again", []))
    done = trials._run("read", [tools / "syscall_faults", "read", tmp_path / "log", "2", "EIO"])
    assert done.status == 3 and "Input/output error" in done.said and done.files == {}
