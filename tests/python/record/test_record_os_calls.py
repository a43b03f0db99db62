"""`record --os-calls`: calls of a real program in the C library, those of a fake GPU program that cause idle time, and what must not
change for the program: errno, cancellation, its files, its children.
"""

import os
import re
import shlex
import subprocess
import sys

import pytest
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import FIXTURES, burst, lines, script_of_records

# Every step has its own duration, by which its row is found. The program checks what it gets, and says what differs.
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define CHECK(what) if (!(what)) return fprintf(stderr, "not so: %s\n", #what), 1
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready, ends[2];
static void* make_ready(void* ignored) {
    pthread_mutex_lock(&lock);  /* when the other thread waits */
    usleep(20000);
    is_ready = 1, pthread_cond_signal(&ready), pthread_mutex_unlock(&lock);
    return ignored;
}
static void* read_for_ever(void* ignored) { char byte; return read(ends[0], &byte, 1) < 0 ? NULL : ignored; }
static void on_alarm(int number) { (void)number; struct timespec t = {0, 2000000}; nanosleep(&t, NULL); }
static int basics(void) {
    errno = 77;
    CHECK(poll(NULL, 0, 300) == 0 && errno == 77);
    CHECK(read(-1, NULL, 0) == -1 && errno == EBADF);
    for (int i = 0; i < 1000; i++) CHECK(write(-1, "", 0) == -1 && errno == EBADF);
    int file = open("made", O_CREAT | O_WRONLY, 0640);
    struct stat about;
    CHECK(file >= 0 && fstat(file, &about) == 0 && (about.st_mode & 0777) == 0640);
    for (int other = 3; other < 10; other++) CHECK(other == file || fcntl(other, F_GETFD) == -1);
    return 0;
}
static int threads(void) {
    pthread_t thread;
    void* result;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, make_ready, NULL);
    while (!is_ready) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    CHECK(pthread_join(thread, &result) == 0);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 100000000, soon.tv_sec += soon.tv_nsec / 1000000000, soon.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    CHECK(pthread_cond_timedwait(&ready, &lock, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, read_for_ever, NULL) == 0);
    usleep(5000);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    return 0;
}
static int signals(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    ualarm(8000, 8000);
    CHECK(poll(NULL, 0, 500) == -1 && errno == EINTR);
    ualarm(0, 0);
    return 0;
}
static int children(void) {
    int status;
    pid_t child = fork();
    if (child == 0) usleep(16000), _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = vfork();
    if (child == 0) usleep(17000), _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) usleep(18000), _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
static int many(int count) {
    for (int i = 0; i < count; i++) usleep(20);
    return 0;
}
int main(int count, char** words) {
    if (count > 2 && strcmp(words[1], "many") == 0) return many(atoi(words[2]));
    if (strcmp(words[1], "basics") == 0) return basics();
    if (strcmp(words[1], "threads") == 0) return threads();
    if (strcmp(words[1], "signals") == 0) return signals();
    if (strcmp(words[1], "children") == 0) return children();
    if (strcmp(words[1], "killed") == 0) return usleep(30000), raise(SIGKILL);
    return 9;
}
"""


def compile_c(folder, text):
    (folder / "program.c").write_text(text)
    subprocess.run(["cc", "-O1", "-pthread", "-o", folder / "program", folder / "program.c"], check=True)
    return folder / "program"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("calls"), PROGRAM)


@pytest.fixture
def record(program, tmp_path):
    """Records a command; (rows of os_call, processes done)."""
    capture = tmp_path / "run.gpuprof"

    def run(*command, least="1", status=0, before=""):
        words = [program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--os-calls", least, "--", *command]
        line = f"{before} exec {shlex.join(map(str, words))}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == status, done.stderr
        assert not [path for path in tmp_path.iterdir() if "parts" in path.name]
        return [{**row, "ms": int(row["dur"]) / 1e6} for row in program.stored(capture, "os_call")], done

    run.capture = capture
    return run


def named(rows, name):
    return sorted(row["ms"] for row in rows if row["name"] == name)


def test_calls_that_take_longer_are_rows_and_shorter_ones_are_counted(program, compiled, record):
    rows, _ = record(compiled, "basics", least="200")
    assert [row["name"] for row in rows] == ["poll"]
    assert rows[0]["ms"] >= 300
    assert all(re.fullmatch(r".+:(\d+)/\1", row["thread"]) for row in rows)
    text = " ".join(program.run("report", record.capture, "os_calls").stdout.decode().split())
    assert "Calls shorter than 200 ms are not in the table: " in text and "1,000 write (" in text


def test_short_calls_are_counted_if_no_call_takes_longer(program, compiled, record):
    rows, _ = record(compiled, "basics", least="10000")
    assert not rows
    text = " ".join(program.run("report", record.capture, "os_calls").stdout.decode().split())
    assert "Calls shorter than 10.0 s are not in the table: 1 poll (" in text and "1,000 write (" in text


def test_threads_conditions_and_cancelled_calls(compiled, record):
    rows, _ = record(compiled, "threads")
    assert named(rows, "pthread_cond_wait")[0] >= 20
    assert named(rows, "pthread_cond_timedwait")[0] >= 30
    assert named(rows, "read") == []  # it never returned
    assert len({row["thread"] for row in rows}) >= 2


def test_a_signal_handler_may_call_too(compiled, record):
    rows, _ = record(compiled, "signals")
    assert named(rows, "nanosleep")[0] >= 2
    assert 2 <= named(rows, "poll")[0] < 500  # interrupted, and timed to the handler's end


def test_children_have_calls_of_their_own(compiled, record):
    rows, _ = record(compiled, "children")
    parent = next(row for row in rows if row["name"] == "waitpid")["thread"].split("/")[0]
    sleeps = [row for row in rows if row["name"] == "usleep"]
    assert [row["ms"] >= 16 for row in sleeps] == [True, True]  # of fork and clone; a child of vfork has the parent's memory
    assert len({row["thread"].split("/")[0] for row in sleeps} - {parent}) == 2
    assert {row["thread"].split("/")[0] for row in rows if row["name"] == "waitpid"} == {parent}


def test_a_killed_program_leaves_its_calls(compiled, record):
    rows, _ = record(compiled, "killed", status=-9)
    assert named(rows, "usleep")[0] >= 30


def test_more_calls_than_one_log_holds(program, compiled, record):
    rows, _ = record(compiled, "many", 15_000, least="0.001")
    lost = {row["kind"]: row["count"] for row in program.report(record.capture, "losses")["losses"].rows}
    assert "recorder_loss" not in lost  # one thread, which makes the next log itself
    assert len(named(rows, "usleep")) == 15_000


def test_a_limit_of_file_sizes_ends_only_the_recording_of_calls(compiled, record):
    rows, _ = record(compiled, "basics", before="ulimit -f 40;")
    assert rows == []


@pytest.mark.parametrize("word", ["x", "0", "-1", "nan", "1e99", "1ms"])
def test_wrong_thresholds_are_one_line(program, tmp_path, word):
    outcome = program.run("record", "-o", tmp_path / "run.gpuprof", f"--os-calls={word}", "--", "true")
    assert outcome.status == 2
    assert outcome.errors == [f"gpu-profile: invalid --os-calls '{word}'; expected milliseconds, 0.001-3600000"]


def test_without_the_option_the_library_is_not_loaded(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", "-o", capture, "--sample", "0", "--quiet", "--", sys.executable, "-c",
                          "assert 'os_calls' not in open('/proc/self/maps').read(); import time; time.sleep(0.01)")
    assert outcome.status == 0, outcome.errors
    assert program.stored(capture, "os_call") == []


def test_logs_that_cannot_be_read_are_counted(program, tmp_path):
    """Of an interrupted recording: a whole log, a cut one, one of another build, and none at all."""
    folder, capture = tmp_path / "run.parts", tmp_path / "run.gpuprof"
    folder.mkdir()
    library = program.path.parent / "libgpuprof_os_calls.so"
    subprocess.run([sys.executable, "-c", "import time; time.sleep(0.4)"], check=True,
                   env={**os.environ, "LD_PRELOAD": str(library), "GPUPROF_RECORD_DIR": str(folder), "GPUPROF_RECORD": "os_calls_ns=300000000"})
    log = next(folder.glob("*.oscalls")).read_bytes()
    (folder / "1-1.oscalls").write_bytes(log[:5000])
    (folder / "2-1.oscalls").write_bytes(log[:8] + b"other   " + log[16:])
    (folder / "3-1.oscalls").write_bytes(b"")
    outcome = program.run("record", "--merge", folder, "-o", capture, "--quiet")
    assert outcome.status == 0, outcome.errors
    losses = [row for row in program.report(capture, "losses")["losses"].rows if row["kind"] == "unread_file"]
    assert {(row["place"], row["count"]) for row in losses} == {("1-1.oscalls", 1), ("2-1.oscalls", 1), ("3-1.oscalls", 1)}
    assert [row["name"] for row in program.stored(capture, "os_call")] == ["clock_nanosleep"]


TRAINING = """
import ctypes, os, sys, threading, time
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
ends = os.pipe()

def write():
    for _ in range(6):
        time.sleep(0.12)
        os.write(ends[1], b"x")

threading.Thread(target=write).start()
for turn in range(6):
    os.read(ends[0], 1)
    assert cuda.fake_cuda_play(sys.argv[1].encode(), b"time=start live inline first=%d" % turn) == 0
"""


def test_idle_time_names_the_call(program, tmp_path):
    """The thread that launches waits for a pipe while the device is idle; another one sleeps, which explains nothing."""
    code, capture = tmp_path / "train.py", tmp_path / "run.gpuprof"
    code.write_text(TRAINING)
    script = script_of_records(burst(lines(FIXTURES / "memory_bound.jsonl.xz")), tmp_path)
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--os-calls", "0.001", "--", sys.executable, code,
                           script], env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    gaps = [row for row in program.report(capture, "gaps")["gaps"].rows if row["dur_ns"] > 60_000_000 and row["before"] and row["after"]]
    assert len(gaps) == 5
    assert {row["host_what"] for row in gaps} == {"read"}
    text = program.run("report", capture, "idle").stdout.decode()
    assert re.search(r"host compute: host threads spent .* in read", text)
    findings = program.run("report", capture, "findings").stdout.decode()
    assert re.search(r"of this time in the\s+operating-system call read", " ".join(findings.split()))
    # The collector's own thread writes its file during this time (writev), which is no call of the program.
    writers = {row["thread"] for row in program.stored(capture, "os_call") if row["name"] == "writev"}
    assert writers <= {row["host_thread"] for row in gaps}
