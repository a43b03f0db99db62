"""The recorded program never notices what goes wrong in the collector: full disks, refused memory, threads and libraries.

tests/fakes/faultio makes one call of the injected library fail. Calls are counted first; then each is made to fail in a run
of its own. In every run the program ends as it does without us, what it left can be read, and what is missing is counted.
"""

import resource
import subprocess

import pytest
from injected import Injected, chunk_kinds, in_parallel, kernels_of
from patience import HANGS_S
from recordings_of_cupti import KERN, kernels_in, lines, script_of

KERNELS = len(kernels_in(lines()))
CALLS = {"write": ["ENOSPC", "EIO", "short", "EINTR"], "open": ["EMFILE"], "mmap": ["ENOMEM"], "malloc": ["ENOMEM"],
         "thread": ["EAGAIN"], "dlopen": ["ENOENT"], "atfork": ["ENOMEM"], "atexit": ["ENOMEM"]}
HARMLESS = {"short", "EINTR"}  # what the collector makes good itself
ARGUMENTS = ("--nvtx", "--times", "2")


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("script"))


@pytest.fixture
def injected(program, script, tmp_path):
    made = Injected(program, tmp_path / "spool", script)
    if made.sanitized:
        pytest.skip("faultio takes malloc over, as the sanitizers of this build do")
    return made


def losses_of_the_recorder(injected, file):
    """The script is played twice, at the same times of one stream."""
    return {kind: count for kind, count in injected.losses(file).items() if kind != "overrun"}


def count_calls(injected):
    counts = injected.folder.parent / "counts"
    assert injected.run(*ARGUMENTS, counts=counts).returncode == 0
    (file,) = injected.files()
    assert losses_of_the_recorder(injected, file) == {}
    assert kernels_of(injected.tables(file, "kernels")[0]) == 2 * KERNELS
    return {call: int(number) for call, number in map(str.split, counts.read_text().splitlines())}


def check_run(injected, folder, rule, harmless):
    spool = Injected(injected.program, folder, injected.script)
    done = spool.run(*ARGUMENTS, faults=rule)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    files = spool.files()
    assert len(files) <= 1
    for file in files:
        kernels, losses = spool.tables(file, "kernels", "losses")
        missing = 2 * KERNELS - kernels_of(kernels)
        assert missing >= 0
        kinds = {row["kind"] for row in losses if row["severity"] == "data"}
        assert not harmless or (missing, kinds) == (0, set()), (missing, kinds)
        assert missing == 0 or kinds, f"{missing} kernels are missing and nothing says so"


@pytest.mark.parametrize("call", CALLS)
def test_each_call_may_fail(injected, tmp_path, call):
    calls = count_calls(injected)[call]
    assert calls > 0
    # Runs differ a little in how often they write; the last numbers may never be reached.
    cases = [(f"{call} {number}{more} {error}", error in HARMLESS)
             for error in CALLS[call] for more in ("", "+") for number in range(1, calls + 1)
             if not (error == "EINTR" and more)]
    errors = in_parallel(lambda number, case: check_run(injected, tmp_path / str(number), *case), cases)
    assert errors == [], f"{len(errors)} of {len(cases)}"


def test_a_disk_that_fills_within_a_chunk_leaves_no_torn_end(injected, tmp_path):
    """Half of a chunk is written and then nothing more: what was written of it is taken back."""
    sizes = []

    def check(number, first):
        spool = Injected(injected.program, tmp_path / str(number), injected.script)
        done = spool.run(*ARGUMENTS, faults=f"write {first} short; write {first + 1}+ ENOSPC")
        assert (done.returncode, done.stderr) == (0, b"")
        files = spool.files()
        assert files or first == 1
        for file in files:
            _, torn = chunk_kinds(file.read_bytes())
            assert torn == 0
            assert "killed_process" in spool.losses(file)  # nothing more could be said
            sizes.append(file.stat().st_size)

    assert in_parallel(check, range(1, count_calls(injected)["write"])) == []
    assert len(set(sizes)) > 3


def test_one_lost_write_costs_what_it_held_and_is_counted_as_such(injected):
    """The disk was full for a moment: later chunks are there, and the file does not end torn."""
    done = injected.run(*ARGUMENTS, "--sleep-ms", "300", faults="write 4 ENOSPC")
    assert done.returncode == 0
    (file,) = injected.files()
    assert losses_of_the_recorder(injected, file) == {"recorder_loss": 1}


def test_slow_disks_and_slow_memory_only_take_time(injected):
    done = injected.run(*ARGUMENTS, faults="write 2+ delay 20; mmap 1+ delay 5; open 1 delay 50; thread 1 delay 50")
    assert done.returncode == 0
    (file,) = injected.files()
    assert losses_of_the_recorder(injected, file) == {}
    assert kernels_of(injected.tables(file, "kernels")[0]) == 2 * KERNELS


def test_a_limit_of_file_sizes_is_no_signal_to_the_program(injected, tmp_path):
    """Limits at which the last chunks just fit, fit in part or do not fit: in none of them does the file look complete."""

    def check(number, limit):
        spool = Injected(injected.program, tmp_path / str(number), injected.script)
        done = spool.run(*ARGUMENTS, preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert done.returncode == 0
        (file,) = spool.files()
        assert file.stat().st_size <= limit
        assert {"recorder_loss", "killed_process"} & set(spool.losses(file)), spool.losses(file)

    assert in_parallel(check, range(8000, 8400, 8)) == []


def test_record_goes_on_where_a_process_could_write_nothing(program, injected, tmp_path):
    capture = tmp_path / "run.gpuprof"
    environment = injected.environment(faults="write 1+ ENOSPC")
    command = [program.path, "record", "-o", capture, "--sample", "0", "--", *injected.command("--nvtx", "--end", "kill")]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=HANGS_S, check=False)
    assert done.returncode == -9
    assert b"could not write its last records" in done.stderr, done.stderr.decode()  # what the launcher saw from outside is there
    assert program.run("report", capture, "losses").status == 0
    assert list(tmp_path.glob("*.parts-*")) == []
