"""Time that threads wait for a CPU: `ready_ns`, which needs no permission, and `record --scheduling`. Two busy threads on one CPU are
the truth: each waits about as long as the other runs. A sleeping thread does not wait.
"""

import os
import subprocess
import sys
import tempfile
import textwrap

import pytest
from lengthened import lengthened
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import FIXTURES, burst, lines, script_of_records

BUSY = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static double seconds;
static double now(clockid_t clock) { struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void* busy(void* name) {
    pthread_setname_np(pthread_self(), name);
    double used = now(CLOCK_THREAD_CPUTIME_ID), end = now(CLOCK_MONOTONIC) + seconds;
    while (now(CLOCK_MONOTONIC) < end) {}
    printf("%s %f\n", (const char*)name, now(CLOCK_THREAD_CPUTIME_ID) - used);
    return NULL;
}
static void* sleeping(void* name) {
    pthread_setname_np(pthread_self(), name);
    struct timespec all = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&all, NULL);
    return NULL;
}
int main(int count, char** arguments) {
    if (count < 2) return 2;
    seconds = atof(arguments[1]);
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) { CPU_SET(cpu, &one); break; }
    sched_setaffinity(0, sizeof one, &one);
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, busy, "busy-1");
    pthread_create(&threads[1], NULL, busy, "busy-2");
    pthread_create(&threads[2], NULL, sleeping, "sleeping");
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
"""
SECONDS = 2

# Runs a command under a filter that answers perf_event_open with an error number.
FILTER = r"""
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char** arguments) {
    if (count < 3) return 2;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (atoi(arguments[1]) & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 3;
    execvp(arguments[2], arguments + 2);
    return 4;
}
"""


def compiled(folder, name, text):
    source, binary = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-O1", "-pthread", "-o", binary, source], check=True)
    return binary


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("scheduling")


@pytest.fixture(scope="module")
def busy(folder):
    return compiled(folder, "busy", BUSY)


@pytest.fixture(scope="module")
def filtered(folder):
    return compiled(folder, "filtered", FILTER)


def record(program, tmp_path, *command, options=("--scheduling",), quiet=True):
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", *(["--quiet"] if quiet else []), "--force", "-o", capture, "--sample", "0", *options, "--", *command)
    return outcome, capture


def skip_if_refused(outcome):
    refused = [line for line in outcome.errors if "scheduling is not recorded" in line]
    if refused:
        pytest.skip(refused[0])


def used_by(outcome):
    """CPU time of each busy thread in ns, as it measured it."""
    return {name: float(seconds) * 1e9 for name, seconds in (line.split() for line in outcome.stdout.decode().splitlines())}


def by_name(program, capture, analysis):
    return {row["name"]: row for row in program.report(capture, analysis)[analysis].rows if row["thread"]}


@pytest.mark.measures
def test_ready_time_without_permission(program, tmp_path, busy):
    outcome, capture = record(program, tmp_path, busy, SECONDS, options=())
    rows, used = by_name(program, capture, "cpu"), used_by(outcome)
    if rows["busy-1"]["ready_ns"] is None:
        pytest.skip("this kernel does not count the time that threads are ready to run")
    for name in ("busy-1", "busy-2"):
        waited = SECONDS * 1e9 - used[name]
        # The last wait, or the last interval before the thread ended, may be missing.
        assert waited - 0.4e9 <= rows[name]["ready_ns"] <= waited + 0.2e9
    assert rows["busy-1"]["ready_ns"] + rows["busy-2"]["ready_ns"] >= 0.35 * 2 * SECONDS * 1e9
    assert rows["sleeping"]["ready_ns"] < 0.1e9
    assert all(row["ready_ns"] is None for row in program.report(capture, "cpu")["cpu"].rows if row["thread"] is None)


@pytest.mark.measures
def test_slices_are_what_the_threads_measured(program, tmp_path, busy):
    outcome, capture = record(program, tmp_path, busy, SECONDS)
    skip_if_refused(outcome)
    assert outcome.status == 0
    rows, used = by_name(program, capture, "scheduling"), used_by(outcome)
    for name in ("busy-1", "busy-2"):
        row = rows[name]
        assert row["cpu_ns"] == pytest.approx(used[name], abs=0.02e9)
        # The thread is never blocked, so what it did not run it was preempted.
        assert row["preempted_ns"] == pytest.approx(SECONDS * 1e9 - used[name], abs=0.05e9)
        assert row["preemptions"] >= 10
        assert row["cpus"] == 1
        assert row["migrations"] == 0
        assert 0 < row["preempted_max_ns"] <= row["preempted_ns"]
    assert rows["sleeping"]["preempted_ns"] < 0.1e9
    assert rows["sleeping"]["cpu_ns"] < 0.1e9
    assert program.report(capture, "losses")["losses"].rows == []


def test_a_command_and_its_children_from_their_first_moment(program, tmp_path):
    outcome, capture = record(program, tmp_path, "sh", "-c", "/bin/true; (exec sleep 0.2); echo $$")
    skip_if_refused(outcome)
    shell = int(outcome.stdout)
    slices = [row for row in program.stored(capture, "cpu_slice") if row.get("thread")]
    processes = {row["process"] for row in slices}
    assert len(processes) == 3
    assert any(process.endswith(f":{shell}") for process in processes)
    assert all(int(row["dur"]) >= 0 for row in slices)
    assert {row.get("end_state") for row in slices} <= {"preempted", "blocked", "", None}


def test_other_programs_have_no_rows(program, tmp_path):
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        outcome, capture = record(program, tmp_path, "sleep", "0.3")
    finally:
        other.kill()
        other.wait()
    skip_if_refused(outcome)
    assert len({row["process"] for row in program.stored(capture, "cpu_slice")}) == 1


def test_the_command_is_none_the_wiser(program, tmp_path):
    """It inherits neither descriptors nor a changed environment, and its exit status is kept."""
    listing = "import os, sys; print(sorted(os.listdir('/proc/self/fd')), sorted(k for k in os.environ)); sys.exit(7)"
    with_it, _ = record(program, tmp_path, sys.executable, "-c", listing)
    without, _ = record(program, tmp_path, sys.executable, "-c", listing, options=())
    assert with_it.status == without.status == 7
    assert with_it.stdout == without.stdout


@pytest.mark.parametrize(("error", "said"), [("EPERM", "--cap-add PERFMON"), ("EACCES", "perf_event_paranoid"), ("ENOSYS", "Function not implemented")])
def test_refused_permission_is_one_sentence(program, tmp_path, filtered, error, said):
    import errno

    capture = tmp_path / "run.gpuprof"
    done = subprocess.run([filtered, str(getattr(errno, error)), program.path, "record", "--quiet", "-o", capture, "--sample", "0",
                           "--scheduling", "--", "sh", "-c", "sleep 0.3; exit 3"], capture_output=True, timeout=HANGS_S)
    assert done.returncode == 3
    lines = done.stderr.decode().splitlines()
    assert len([line for line in lines if "scheduling is not recorded" in line and said in line]) == 1
    assert program.stored(capture, "cpu_slice") == []
    assert program.report(capture, "cpu")["cpu"].rows
    note = program.run("report", capture, "scheduling").stdout.decode()
    assert "record --scheduling" in note


# The thread that launches computes between bursts of launches, on the CPU that four children keep busy: it waits four fifths of the time.
CROWDED = """
import ctypes, os, signal, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
children, parent = [], os.getpid()
for _ in range(4):
    child = os.fork()
    if child == 0:
        while os.getppid() == parent:
            pass
        os._exit(0)
    children.append(child)
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
for turn in range(4):
    assert cuda.fake_cuda_play(sys.argv[1].encode(), b"time=start live inline first=%d" % turn) == 0
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        pass
[os.kill(child, signal.SIGKILL) for child in children]
[os.waitpid(child, 0) for child in children]
"""


@pytest.mark.measures
def test_idle_time_names_the_wait(program, tmp_path):
    code, capture = tmp_path / "train.py", tmp_path / "run.gpuprof"
    code.write_text(CROWDED)
    script = script_of_records(burst(lines(FIXTURES / "memory_bound.jsonl.xz")), tmp_path)
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--scheduling", "--", sys.executable, code, script],
                          env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    if "scheduling is not recorded" in done.stderr:
        pytest.skip(done.stderr)
    gaps = [row for row in program.report(capture, "gaps")["gaps"].rows if row["dur_ns"] > 300_000_000 and row["before"] and row["after"]]
    assert len(gaps) == 3
    assert {row["host_what"] for row in gaps} == {"waiting for a CPU"}
    for analysis, said in (("idle", "host threads were preempted and waited for a CPU for"), ("findings", "was preempted and waited for a CPU for"),
                           ("cpu", "which launches device work, waited for a CPU")):
        assert said in " ".join(program.run("report", capture, analysis).stdout.decode().split())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_may(program):
    """With perf_event_paranoid at 2, the kernel's default, no capability is needed."""
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        if int(file.read()) > 2:
            pytest.skip("perf_event_paranoid is above 2")
    user = ["setpriv", "--reuid", "65534", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        os.chmod(folder, 0o777)
        capture = f"{folder}/run.gpuprof"
        if subprocess.run([*user, program.path, "--version"], capture_output=True).returncode != 0:
            pytest.skip("another user cannot reach the program")
        done = subprocess.run([*user, program.path, "record", "--quiet", "-o", capture, "--sample", "0", "--scheduling", "--", "sleep", "0.2"],
                              capture_output=True, timeout=HANGS_S, cwd=folder)
        assert done.returncode == 0
        assert b"scheduling is not recorded" not in done.stderr
        assert program.stored(capture, "cpu_slice")


def test_max_size_bounds_it(program, tmp_path):
    """Two processes that hand a byte to each other switch as fast as they can."""
    ping = tmp_path / "ping.py"
    ping.write_text(textwrap.dedent("""
        import os, sys, time
        a, b = os.pipe(), os.pipe()
        end = time.monotonic() + int(sys.argv[1])
        if os.fork():
            while time.monotonic() < end:
                os.write(a[1], b"x"), os.read(b[0], 1)
            os._exit(0)
        else:
            os.close(a[1])
            while os.read(a[0], 1):
                os.write(b[1], b"x")
    """))

    def switch(length):
        outcome, capture = record(program, tmp_path, sys.executable, ping, 2 * length, options=("--scheduling", "--max-size", "64KiB"))
        skip_if_refused(outcome)
        assert outcome.status == 0
        return outcome, capture

    def reached(found):
        return any("reached --max-size" in line for line in found[0].errors)

    outcome, capture = lengthened(switch, reached)
    assert reached((outcome, capture))
    assert 0 < len(program.stored(capture, "cpu_slice"))
    assert capture.stat().st_size < 5_000_000
