"""What CUPTI and the driver do to their clients, one misbehaviour at a time, shown by the fake libcupti (faults.h, play.h).

In every case: the program ends as it would alone, the recording can be read, and what it lacks is counted in it.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from injected import Injected, in_parallel, kernels_of
from nightly import pairs
from patience import HANGS_S
from recordings_of_cupti import KERN, ROOT, kernels_in, lines, script_of

KERNELS = len(kernels_in(lines()))
# What the fake plays of the collector's functions: those of its main file but one, which only other clients call.
FUNCTIONS = sorted(set(re.findall(r"^int (cupti\w+)", (ROOT / "tests/fakes/cupti/fake_cupti.cc").read_text(), re.M)) - {"cuptiEnableDomain"})
CODES = (1, 7, 8, 15, 26, 35, 39, 999)


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("script"))


@pytest.fixture
def injected(program, script, tmp_path):
    return Injected(program, tmp_path / "spool", script)


def outcome_of(spool, *arguments, **rules):
    """Kernels, and losses that mean missing data; the run must end well and leave one readable file."""
    done = spool.run(*arguments, **rules)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (file,) = spool.files()
    kernels, losses = spool.tables(file, "kernels", "losses")
    return kernels_of(kernels), {row["kind"]: row["count"] for row in losses if row["severity"] == "data"}


def test_each_function_may_answer_each_code(injected, tmp_path):
    """From the start each function with each code; after some calls each function with a code, and each code with a function."""
    assert len(FUNCTIONS) > 12
    some = pairs(FUNCTIONS, CODES)
    first = some if injected.sanitized else [(function, code) for function in FUNCTIONS for code in CODES]
    cases = [f"fail {function} {code}" for function, code in first] + [f"fail {function} {code} after 3" for function, code in some]

    def check(number, rule):
        kernels, losses = outcome_of(Injected(injected.program, tmp_path / str(number), injected.script), "--nvtx", rules=rule)
        assert kernels <= KERNELS
        assert kernels == KERNELS or losses, f"{KERNELS - kernels} kernels are missing and nothing says so"

    assert in_parallel(check, cases, jobs=4) == []


@pytest.mark.parametrize("after", [0, 2])
def test_a_function_may_never_come_back(injected, tmp_path, after):
    """While the program runs or ends, our own thread waits and the end takes two seconds at most. The functions that the start
    calls run within cuInit on the program's thread: test_a_start_that_never_ends_is_said. cuptiGetStreamIdEx runs in its calls."""
    on_its_thread = {"cuptiActivityEnable", "cuptiActivityEnableRuntimeApi", "cuptiActivityEnableDriverApi", "cuptiGetVersion",
                     "cuptiActivityRegisterCallbacks", "cuptiActivitySetAttribute", "cuptiSetThreadIdType", "cuptiGetCallbackName",
                     "cuptiSubscribe", "cuptiEnableCallback", "cuptiGetStreamIdEx"}
    cases = [f"hang {function} after {after}" for function in FUNCTIONS if function not in on_its_thread]
    assert len(cases) >= 4

    def check(number, rule):
        begun = time.monotonic()
        spool = Injected(injected.program, tmp_path / str(number), injected.script)
        done = spool.run("--nvtx", rules=rule)
        assert (done.returncode, done.stderr) == (0, b"")
        assert time.monotonic() - begun < HANGS_S / 10  # two seconds, on a busy machine
        (file,) = spool.files()
        kernels, losses = spool.tables(file, "kernels", "losses")
        assert kernels_of(kernels) == KERNELS or losses

    assert in_parallel(check, cases, jobs=8) == []


@pytest.mark.parametrize("function", ["cuptiActivityEnable", "cuptiActivityRegisterCallbacks"])
def test_a_start_that_never_ends_is_said(injected, function):
    """The program hangs as it would in any call of the driver. A message says why."""
    with subprocess.Popen(injected.command("--nvtx"), env=injected.environment(rules=f"hang {function}")) as process:
        time.sleep(6)
        assert process.poll() is None
        process.kill()
    (file,) = injected.files()
    places = [row["place"] for row in injected.tables(file, "losses")[0] if row["kind"] == "recorder_refused"]
    assert len(places) == 1 and "--trace nvtx,cpu" in places[0], places


def test_a_buffer_completed_after_the_end_is_left_alone(injected):
    kernels, losses = outcome_of(injected, rules="after_teardown")
    assert kernels <= KERNELS  # the buffer may hold calls only
    assert losses.get("recorder_loss", 0) == 1


@pytest.mark.parametrize("rules", ["unfinished 5", "zero_times 3", "unfinished 5; zero_times 3; shuffle 2; late 20"])
def test_work_without_times_is_counted(injected, rules):
    kernels, losses = outcome_of(injected, rules=rules)
    untimed = losses.get("untimed_op", 0) + losses.get("unfinished_op", 0)
    assert 0 < untimed
    assert KERNELS - untimed <= kernels < KERNELS


def test_running_kernels_come_with_the_forced_flush_at_the_end(injected):
    assert outcome_of(injected, "--sleep-ms", "600", rules="running 3") == (KERNELS, {})


def test_slow_functions_cost_no_records(injected):
    rules = "slow cuptiActivityFlushAll 100; slow cuptiActivityGetNextRecord 1; slow cuptiActivityEnable 5"
    assert outcome_of(injected, rules=rules) == (KERNELS, {})


@pytest.mark.parametrize("version", ["12.8", "13.0"])
def test_no_memory_for_buffers(program, injected, tmp_path, version):
    """CUPTI before 12.9 crashes when it gets no buffer: it gets one whose records are thrown away. The fake counts a missing
    buffer as a breach then, and the program ends with 70."""
    if injected.sanitized:
        pytest.skip("needs faultio")
    spool = Injected(program, tmp_path / "other", script_of(KERN, tmp_path, version))
    kernels, losses = outcome_of(spool, faults="mmap 1+ ENOMEM")
    assert kernels == 0
    assert losses.get("recorder_loss", 0) >= KERNELS


def test_a_buffer_for_each_of_many_threads(injected):
    assert outcome_of(injected, "--threads", "100", play="inline live") == (100 * KERNELS, {})


def test_a_name_at_the_address_of_another(injected):
    """A module goes and another comes: the same address, another text."""
    if injected.sanitized:
        pytest.skip("text that changes under a reader is a race by itself")
    done = injected.run("--times", "1", play="inline live repeat=3 renames")
    assert done.returncode == 0
    (file,) = injected.files()
    counts = {row["name"]: row["count"] for row in injected.tables(file, "kernels")[0]}
    assert sum(counts.values()) == 3 * KERNELS
    for turn in range(1, 3):
        assert sum(count for name, count in counts.items() if name.startswith(f"{turn}")) == KERNELS, counts


def test_no_signal_handler_is_installed(injected):
    def caught(environment):
        with subprocess.Popen(injected.command("--nvtx", "--sleep-ms", "2000"), env=environment) as process:
            time.sleep(0.4)
            status = Path(f"/proc/{process.pid}/status").read_text()
            process.send_signal(signal.SIGKILL)
        masks = [int(mask, 16) for mask in re.findall(r"^Sig(?:Blk|Ign|Cgt):\s*(\w+)", status, re.M)]
        return [mask & ~(3 << 31) for mask in masks]  # 32 and 33 are those of libc's own threads

    alone = {key: value for key, value in injected.environment().items() if not key.endswith("_INJECTION64_PATH")}
    assert caught(injected.environment()) == caught(alone)
    assert injected.files()


def test_a_mapped_libcupti_wins_over_a_named_one(injected, tmp_path):
    other = tmp_path / "libcupti.so.12"
    other.write_bytes((injected.fakes / "libcupti.so.13").read_bytes())
    environment = injected.environment() | {"GPUPROF_CUPTI": str(other), "LD_PRELOAD": str(injected.fakes / "libcupti.so.13")}
    done = subprocess.run(injected.command(), env=environment, timeout=HANGS_S, check=False)
    assert done.returncode == 0
    (file,) = injected.files()
    assert kernels_of(injected.tables(file, "kernels")[0]) == KERNELS


def test_programs_with_another_users_rights_are_left_alone(injected, tmp_path):
    if os.geteuid() != 0 or injected.sanitized:
        pytest.skip("only root can make a program run with another user's rights, and sanitizers do not like it")
    injected.folder.chmod(0o777)
    for folder in [tmp_path, *list(tmp_path.parents)[:4]]:
        if folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o111)
    program = tmp_path / "fake_program"
    program.write_bytes((injected.fakes / "fake_program").read_bytes())
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    command = [program, "--no-cuda", "--nvtx"]
    assert subprocess.run(command, env=injected.environment(), timeout=HANGS_S, check=False).returncode == 0
    assert injected.files() == []
    # The same user without the other's rights is recorded: it can load the library and write to the folder.
    program.chmod(0o755)
    assert subprocess.run(command, env=injected.environment(), timeout=HANGS_S, check=False, user=65534, group=65534, extra_groups=[]).returncode == 0
    assert len(injected.files()) == 1


@pytest.mark.parametrize("name", ["libgpuprof_inject.so", "libgpuprof_os_calls.so"])
def test_the_library_needs_nothing_but_libc(injected, name):
    if injected.sanitized:
        pytest.skip("a sanitizer's runtime is needed too")
    library = Path(injected.program.path).parent / name
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert needed <= {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libdl.so.2", "libpthread.so.0"}, needed
