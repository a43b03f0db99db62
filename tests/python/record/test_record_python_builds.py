"""Python stacks of CPython 3.14, and of builds without the interpreter lock (3.13t, 3.14t)."""

import subprocess

import pytest

from lengthened import lengthened
from python_builds import WHEELS, find_build
from wheels import Unavailable

# Two threads run at once. No module but those that are part of the interpreter.
PROGRAM = """
import _thread, sys, time
length = int(sys.argv[1])
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
class Loader:
    def batch(self):
        spin(0.05)
def generator():
    while True:
        Loader().batch()
        yield 1
ended = _thread.allocate_lock()
ended.acquire()
def recurse(depth):
    if depth == 0:
        spin(0.7 * length)
    else:
        recurse(depth - 1)
def other(depth):
    recurse(depth)
    ended.release()
def main():
    _thread.start_new_thread(other, (20,))
    numbers = generator()
    for _ in range(14 * length):
        next(numbers)
    ended.acquire()
main()
"""


def line_of(text):
    return 1 + next(i for i, line in enumerate(PROGRAM.split("\n")) if text in line)


@pytest.fixture(params=WHEELS)
def build(request):
    try:
        return find_build(request.param)
    except Unavailable as reason:
        pytest.skip(str(reason))


def sampled(program, build, tmp_path):
    path, capture = tmp_path / "work.py", tmp_path / "run.gpuprof"
    path.write_text(PROGRAM)

    def sample(length):
        outcome = program.run("record", "-o", capture, "--sample", "0", "--python", "100", "--quiet", "--", build, path, length)
        assert outcome.status == 0, outcome.errors
        return program.stored(capture, "stack_sample")

    def has_enough(rows):
        return all(sum(call in row["stack"] for row in rows) > 20 for call in ("generator (work.py", "recurse (work.py"))

    return lengthened(sample, has_enough), program.report(capture, "losses")["losses"].rows


def test_lines_and_threads(program, build, tmp_path):
    rows, losses = sampled(program, build, tmp_path)
    chain = [f"main (work.py:{line_of('next(numbers)')})", f"generator (work.py:{line_of('Loader().')})",
             f"Loader.batch (work.py:{line_of('spin(0.05)')})", f"spin (work.py:{line_of('while time')})"]
    first = [row for row in rows if row["stack"].endswith(";".join(chain))]
    # The second thread runs its own copy of the instructions in 3.14t.
    deep = ";".join(20 * [f"recurse (work.py:{line_of('recurse(depth - 1)')})"] + [f"recurse (work.py:{line_of('spin(0.7 * length)')})"])
    second = [row for row in rows if f"other (work.py:{line_of('    recurse(depth)')});{deep};spin (work.py:" in row["stack"]]
    assert len(first) > 15 and len(second) > 15
    assert len({row["thread"] for row in first}) == len({row["thread"] for row in second}) == 1
    assert {row["thread"] for row in first}.isdisjoint(row["thread"] for row in second)
    working = [row for row in rows if ";spin (" in row["stack"]]
    assert len(first) + len(second) >= 0.9 * len(working)
    assert {row["kind"]: row["count"] for row in losses}.get("torn_stack", 0) <= 0.1 * len(rows)


def test_only_a_build_with_the_lock_has_a_holder(program, build, tmp_path):
    rows, _ = sampled(program, build, tmp_path)
    working = [row.get("holds_gil", "") for row in rows if ";spin (" in row["stack"]]
    if build.name.endswith("t"):
        assert set(working) == {""}
    else:
        assert {"0", "1"} == set(working)
        assert 0.3 * len(working) < working.count("1") < 0.7 * len(working)  # two threads take turns


def test_these_are_the_builds_that_they_claim_to_be(build, tmp_path):
    path = tmp_path / "version.py"
    path.write_text("import sys; print('%d.%d' % sys.version_info[:2], sys._is_gil_enabled())")
    said = subprocess.run([build, path], capture_output=True, text=True, check=True).stdout.split()
    assert said == [build.name.removeprefix("python").rstrip("t"), str(not build.name.endswith("t"))]
