"""Python stacks sampled from outside (`record --python HZ`), of every CPython that this machine has."""

import glob
import os
import re
import subprocess
import sys
import textwrap
from collections import Counter

import pytest
from lengthened import lengthened
from patience import HANGS_S

MINORS = range(9, 14)


def interpreters():
    """One CPython for each minor version from 3.9 to 3.13 that can be found; this one among them."""
    found = {}
    folders = [*os.environ["PATH"].split(":"), *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin"))]
    for candidate in [sys.executable, *(f"{folder}/python3.{minor}" for folder in folders for minor in MINORS)]:
        if not os.access(candidate, os.X_OK) or "shims" in candidate:
            continue
        done = subprocess.run([candidate, "-c", "import sys; print(sys.version_info[1], sys.implementation.name)"],
                              capture_output=True, text=True, check=False)
        minor, _, name = done.stdout.strip().partition(" ")
        if done.returncode == 0 and name == "cpython" and int(minor) in MINORS:
            found.setdefault(int(minor), candidate)
    return found


INTERPRETERS = interpreters()

# Its arguments: how deep the thread recurses, and how many times as long all of it takes.
PROGRAM = """
import sys, threading, time
length = int(sys.argv[2])
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
class Loader:
    def größe(self):
        spin(0.05)
def generator():
    while True:
        Loader().größe()
        yield 1
def recurse(depth):
    if depth == 0:
        time.sleep(0.6 * length)
    else:
        recurse(depth - 1)
def main():
    threading.setprofile(None)
    thread = threading.Thread(target=recurse, args=(int(sys.argv[1]),))
    thread.start()
    numbers = generator()
    for _ in range(14 * length):
        next(numbers)
    thread.join()
main()
"""


def record(program, tmp_path, *command, hz=100):
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", "-o", capture, "--sample", "0", "--python", hz, "--quiet", "--", *command)
    return outcome, capture


def line_of(text):
    return 1 + next(i for i, line in enumerate(PROGRAM.split("\n")) if text in line)


@pytest.mark.parametrize("minor", MINORS)
def test_functions_lines_and_threads_of_every_version(program, tmp_path, minor):
    if minor not in INTERPRETERS:
        pytest.skip(f"no CPython 3.{minor} on this machine")
    path = tmp_path / "work.py"
    path.write_text(PROGRAM)

    def sample(length):
        outcome, capture = record(program, tmp_path, INTERPRETERS[minor], path, 20, length)
        assert outcome.status == 0, outcome.errors
        return capture, program.stored(capture, "stack_sample")

    def has_enough(sampled):
        of_work, of_sleep = (sum(call in row["stack"] for row in sampled[1]) for call in (";spin (work.py", "recurse (work.py"))
        return min(of_work, of_sleep) > 25

    capture, rows = lengthened(sample, has_enough)
    assert len(rows) > 40
    # 3.11 and later have qualified names.
    method = "Loader.größe" if minor >= 11 else "größe"
    chain = [f"main (work.py:{line_of('next(numbers)')})", f"generator (work.py:{line_of('Loader().')})",
             f"{method} (work.py:{line_of('spin(0.05)')})"]
    working = [row for row in rows if f";{chain[2]};spin (work.py" in row["stack"]]
    assert len(working) > 20
    whole = [row for row in working if ";".join(chain) in row["stack"]]
    assert len(whole) >= 0.9 * len(working)  # a stack may mix two moments that are microseconds apart
    deep = [row for row in rows if row["stack"].count(f"recurse (work.py:{line_of('recurse(depth - 1)')})") == 20]
    assert len(deep) > 20
    assert deep[0]["stack"].endswith(f"recurse (work.py:{line_of('time.sleep(0.6 * length)')})")
    assert Counter(row["thread"] for row in deep).most_common(1)[0][0] not in {row["thread"] for row in working}
    assert all(re.fullmatch(r".*:\d+/\d+", row["thread"]) for row in rows)
    # The thread that works holds the interpreter lock, the one that sleeps does not.
    assert sum(row["holds_gil"] == "1" for row in working) > 0.8 * len(working)
    assert sum(row["holds_gil"] == "1" for row in deep) < 0.2 * len(deep)
    losses = {row["kind"]: row["count"] for row in program.report(capture, "losses")["losses"].rows}
    assert losses.get("torn_stack", 0) <= 0.1 * len(rows)


def test_the_analysis_names_the_function(program, tmp_path):
    path = tmp_path / "work.py"
    path.write_text(PROGRAM)
    _, capture = record(program, tmp_path, sys.executable, path, 3, 1)
    rows = program.report(capture, "stacks")["stacks"].rows
    top = rows[0] if rows[0]["function"] == "spin" else next(row for row in rows if row["function"] == "spin")
    assert top["file"] == "work.py"
    assert top["self_pct"] > 50
    assert next(row for row in rows if row["function"] == "main")["self_samples"] <= 2


def test_very_deep_stacks_are_cut_and_said(program, tmp_path):
    path = tmp_path / "work.py"
    path.write_text("import sys\nsys.setrecursionlimit(5000)\n" + PROGRAM)

    def sample(length):
        outcome, capture = record(program, tmp_path, sys.executable, path, 900, length)
        assert outcome.status == 0
        return capture, [row for row in program.stored(capture, "stack_sample") if row["cut"] == "1"]

    capture, cut = lengthened(sample, lambda sampled: sampled[1])
    assert cut
    assert all(row["depth"] == "256" for row in cut)
    assert "deep_stack" in {row["kind"] for row in program.report(capture, "losses")["losses"].rows}


def test_children_are_sampled_too(program, tmp_path):
    path = tmp_path / "parent.py"
    path.write_text(textwrap.dedent("""
        import multiprocessing, sys, time
        def child_work():
            time.sleep(0.5 * int(sys.argv[1]))
        if __name__ == "__main__":
            context = multiprocessing.get_context("spawn")
            workers = [context.Process(target=child_work) for _ in range(2)]
            [w.start() for w in workers]
            [w.join() for w in workers]
    """))

    def children(length):
        _, capture = record(program, tmp_path, sys.executable, path, length)
        return {row["process"] for row in program.stored(capture, "stack_sample") if "child_work (parent.py" in row["stack"]}

    assert len(lengthened(children, lambda found: len(found) == 2)) == 2


def test_a_program_that_is_not_python_is_said(program, tmp_path):
    outcome, _ = record(program, tmp_path, "sleep", "0.3")
    assert outcome.status == 0
    assert any("no CPython" in line for line in outcome.errors)


def test_without_the_option_nothing_is_sampled(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    program.run("record", "-o", capture, "--sample", "0", "--", sys.executable, "-c", "import time; time.sleep(0.3)")
    assert program.stored(capture, "stack_sample") == []


@pytest.mark.parametrize("hz", ["0", "-1", "2000", "x"])
def test_wrong_rates_are_refused(program, tmp_path, hz):
    outcome, _ = record(program, tmp_path, "true", hz=hz)
    assert outcome.status == 2
    assert "--python" in outcome.errors[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give rights up")
def test_no_permission_is_one_sentence_and_all_else_goes_on(program, tmp_path):
    """The command runs as another user than the recorder: its memory may not be read."""

    def recorded(length):
        return subprocess.run(
            ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace", program.path, "record", "--force", "-o",
             tmp_path / "run.gpuprof", "--sample", "0", "--python", "50", "--quiet", "--", sys.executable, "-c",
             f"import os, time; os.setuid(65534); time.sleep({2 * length})"],
            capture_output=True, text=True, check=False, timeout=HANGS_S)

    # Where Python takes seconds to start, the next look at the process may come seconds later.
    reader = lengthened(recorded, lambda done: "SYS_PTRACE" in done.stderr)
    assert reader.returncode == 0
    assert "SYS_PTRACE" in reader.stderr
    assert "recorded in" in reader.stderr
