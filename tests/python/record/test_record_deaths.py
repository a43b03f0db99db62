"""Processes that die, fork, execute and start threads while they are recorded. The long run is tests/soak/kills.py."""

import collections
import subprocess
import sys
from pathlib import Path

import pytest
from injected import Injected, kernels_of
from patience import HANGS_S  # noqa: E402
from recordings_of_cupti import KERN, kernels_in, lines, script_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "soak"))
from kills import Kills  # noqa: E402

KERNELS = len(kernels_in(lines()))


@pytest.fixture
def injected(program, tmp_path):
    return Injected(program, tmp_path / "spool", script_of(KERN, tmp_path))


def ranges(injected, file):
    return {row["path"].split("/")[-1]: row["count"] for row in injected.tables(file, "ranges")[0]}


def test_kills_at_random_moments(program, tmp_path):
    count = 60 if Injected(program, tmp_path, None).sanitized else 300  # they are slow to start
    kills, results = Kills(program, tmp_path), []
    while sum(kernels for *_, kernels, _ in results) <= 100 * count:  # where everything is slow, more of them come before any work
        assert len(results) < 5 * count
        results += kills.run(range(len(results), len(results) + count), jobs=4)
    assert [error for *_, error in results if error] == []
    victims = collections.Counter((victim, end) for victim, end, *_ in results)
    assert len(victims) == 8, victims  # six ends of the program, record, its sampler


def test_many_forks(injected):
    """Children annotate, in files of their own, and end at once; the parent's recording is whole. The library is not preloaded here: what
    a child had not written when it called _exit is missing, and that is said."""
    assert injected.run("--nvtx", "--fork", "100").returncode == 0
    files = [file for file in injected.files() if file.stat().st_size > 0]
    whole = [file for file in files if kernels_of(injected.tables(file, "kernels")[0]) > 0]
    assert len(whole) == 1
    kernels, losses = injected.tables(whole[0], "kernels", "losses")
    assert (kernels_of(kernels), losses) == (KERNELS, [])
    assert "in child" not in ranges(injected, whole[0])
    for file in [file for file in files if file not in whole][:5]:
        assert injected.losses(file) == {"killed_process": 1} or ranges(injected, file) == {"in child": 1}


def test_processes_by_posix_spawn(injected):
    assert injected.run("--nvtx", "--spawn", "64").returncode == 0
    files = injected.files()
    assert len(files) == 65
    for file in files:
        kernels, losses = injected.tables(file, "kernels", "losses")
        assert (kernels_of(kernels), losses) == (KERNELS, [])


def test_a_chain_of_execs(injected):
    """exec replaces the program without notice under the same process id; each program gets its own file."""
    assert injected.run("--nvtx", "--exec", "5").returncode == 0
    files = injected.files()
    assert len(files) == 6
    kernels = [kernels_of(injected.tables(file, "kernels")[0]) for file in files if file.stat().st_size > 0]
    assert sum(kernels) == KERNELS
    ended = [file for file in files if file.stat().st_size > 0 and injected.losses(file) == {}]
    assert len(ended) == 1  # the others were truncated


def test_threads_that_end_at_once_are_all_there_and_cost_no_memory(injected, tmp_path):
    """Each thread's ring goes to a later one: 5,000 rings would be over a gigabyte."""
    assert injected.run("--nvtx", "--brief", "5000").returncode == 0
    (file,) = injected.files()
    assert injected.losses(file) == {}
    assert ranges(injected, file)["brief"] == 5000
    if injected.sanitized:
        return  # their own memory is beyond any limit
    limited = "ulimit -v 1000000; exec \"$@\""
    done = subprocess.run(["sh", "-c", limited, "sh", *injected.command("--nvtx", "--brief", "5000")],
                          env=injected.environment(), timeout=HANGS_S, check=False)
    assert done.returncode == 0
    last = max(injected.files(), key=lambda path: path.stat().st_mtime_ns)
    assert ranges(injected, last)["brief"] == 5000
