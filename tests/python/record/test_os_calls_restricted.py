"""`record --os-calls` in programs that may do little: under seccomp, without rights, without room. They run as they do without the recorder, and
what it cannot record is counted."""

import os
import shlex
import subprocess
import sys

import pytest
from patience import HANGS_S
from test_record_os_calls import compile_c

# `own FILTER`: installs it, then sleeps 20 times. `exec FILTER COMMAND...`: installs it, then becomes the command. A filter ends the process for
# every call that it names, or (with +) for every call but these.
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static struct sock_filter code[200];
static unsigned short size;
static void add(unsigned short what, unsigned value, unsigned char yes, unsigned char no) {
    code[size++] = (struct sock_filter){what, yes, no, value};
}
static int install(const char* text, int by_syscall) {
    char list[400];
    int only = text[0] == '+';
    snprintf(list, sizeof list, "%s", text + only);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (char* each = strtok(list, ","); each != NULL; each = strtok(NULL, ",")) {
        add(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(each), 0, 1);
        add(BPF_RET | BPF_K, only ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS, 0, 0);
    }
    add(BPF_RET | BPF_K, only ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {size, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
static void naps(int count) {
    for (int i = 0; i < count; i++) nanosleep(&(struct timespec){0, 2000000}, NULL);
}
static void* nap(void* ignored) { return naps(10), ignored; }
int main(int count, char** words) {
    if (strcmp(words[1], "naps") == 0) return naps(20), 0;
    if (strcmp(words[1], "strict") == 0) {
        char byte = 0;
        int ends[2];
        naps(20);
        if (pipe(ends) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0) return 3;
        for (int i = 0; i < 10000; i++)
            if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) syscall(SYS_exit, 5);
        syscall(SYS_exit, 0);
    }
    if (install(words[2], count % 2) != 0) return perror("seccomp"), 3;
    if (strcmp(words[1], "exec") == 0) return execv(words[3], words + 3), 4;
    if (strcmp(words[1], "fork") == 0) {
        int status;
        pid_t child = fork();
        if (child == 0) naps(20), _exit(0);
        return waitpid(child, &status, 0) == child && status == 0 ? 0 : 6;
    }
    if (strcmp(words[1], "thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nap, NULL) != 0) return 7;
        naps(10);
        return pthread_join(thread, NULL);
    }
    if (strcmp(words[1], "many") == 0) {
        for (int i = 0; i < 6000; i++) nanosleep(&(struct timespec){0, 1000}, NULL);
        return 0;
    }
    return naps(20), 0;
}
"""


def numbers(names):
    """Of system calls, as the C compiler has them."""
    text = "#include <sys/syscall.h>\n" + "".join(f"{name}=SYS_{name}\n" for name in names)
    done = subprocess.run(["cc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    found = dict(line.split("=") for line in done.stdout.splitlines() if "=" in line)
    return {name: value.strip() for name, value in found.items() if value.strip().isdigit()}


LIKELY = ["read", "write", "close", "exit", "exit_group", "rt_sigreturn", "nanosleep", "clock_nanosleep", "futex", "munmap", "madvise", "rt_sigprocmask"]
OWN = {  # without what the recorder would like to ask
    "getpid": "getpid", "gettid": "gettid", "openat": "openat,open", "mmap": "fallocate,mmap", "clock": "clock_gettime,gettimeofday",
    "everything but what the program needs": "+" + ",".join(LIKELY),
}
INHERITED = {
    "ids": "getpid,gettid,getppid", "memory": "madvise,mremap,mincore", "files": "fallocate,ftruncate,faccessat,unlinkat,readlink,readlinkat", "prctl": "prctl,seccomp",
    "everything the recorder does not need": "getpid,gettid,getppid,madvise,fallocate,ftruncate,pwrite64,faccessat,faccessat2,unlinkat,unlink,readlink,readlinkat,prctl,seccomp,fcntl,socket",
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return compile_c(tmp_path_factory.mktemp("restricted"), PROGRAM)


def filter_of(text):
    known = numbers(text.lstrip("+").split(","))
    return ("+" if text[0] == "+" else "") + ",".join(known.values())


@pytest.fixture
def record(program, tmp_path):
    """Records a command; (names of its calls, what is said to be missing)."""

    def run(*command, least="0.5", status=0, before="", into=tmp_path):
        capture = into / "run.gpuprof"
        words = [program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--os-calls", least, "--", *command]
        done = subprocess.run(["bash", "-c", f"{before} exec {shlex.join(map(str, words))}"], capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == status, done
        losses = {row["place"]: row["count"] for row in program.report(capture, "losses")["losses"].rows if row["kind"] in ("recorder_loss", "unread_file")}
        return [row["name"] for row in program.stored(capture, "os_call")], losses

    return run


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("how", ["own", "thread"])
def test_a_program_that_restricts_itself(compiled, record, how, name):
    if how == "thread" and OWN[name][0] == "+":
        pytest.skip("a thread needs more than these calls")
    if how == "thread" and "mmap" in OWN[name]:
        pytest.skip("a thread needs mmap")
    calls, losses = record(compiled, how, filter_of(OWN[name]))
    assert calls.count("nanosleep") == 20
    assert losses == {}


def test_strict_seccomp(compiled, record):
    calls, losses = record(compiled, "strict")
    assert calls.count("nanosleep") == 20
    assert losses == {"calls of the operating system": 20_000}  # without a clock


def test_a_restricted_program_whose_log_is_full_counts_the_rest(compiled, record):
    """Its first log has room for 4,096 calls, and it may not begin another one."""
    calls, losses = record(compiled, "many", filter_of("getpid,gettid,openat"), least="0.001")
    assert calls.count("clock_nanosleep") + calls.count("nanosleep") == 4096 - (len(calls) - calls.count("nanosleep"))
    assert len(calls) == 4096 and losses == {"calls of the operating system": 6000 - 4096 + len(calls) - calls.count("nanosleep")}


def test_children_of_a_restricted_program_are_counted(compiled, record):
    calls, losses = record(compiled, "fork", filter_of("getpid,gettid,openat,fallocate"))
    assert "nanosleep" not in calls
    assert losses["calls of the operating system"] >= 20
    assert losses["processes without a log of calls of the operating system: seccomp does not allow one"] == 1


@pytest.mark.parametrize("name", INHERITED)
@pytest.mark.parametrize("how", ["naps", "fork"])
def test_a_program_that_was_restricted_before_it_began(compiled, record, how, name):
    command = [compiled, "naps"] if how == "naps" else ["/bin/sh", "-c", f"{compiled} naps & wait"]
    if how == "fork" and "getpid" in INHERITED[name]:
        pytest.skip("a shell asks for its process id")
    calls, losses = record(compiled, "exec", filter_of(INHERITED[name]), *command)
    assert calls.count("nanosleep") == 20
    assert losses == {}


def test_a_limit_of_file_sizes(compiled, record):
    calls, losses = record(compiled, "naps", before="ulimit -f 40;")
    assert calls == []
    assert losses == {"processes without a log of calls of the operating system: File too large": 1, "calls of the operating system": 20}


SETUID = """
import os, sys, time
os.setgid(65534); os.setuid(65534)
if sys.argv[1] == "exec":
    os.execv(sys.argv[2], sys.argv[2:] + ["naps"])
if os.fork() == 0:
    for _ in range(20): time.sleep(0.002)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("how", ["fork", "exec"])
def test_another_user(compiled, record, tmp_path, how):
    for folder in (compiled.parent, *compiled.parent.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    _, losses = record(sys.executable, "-c", SETUID, how, compiled, least="1")
    assert losses["processes without a log of calls of the operating system: Permission denied"] == 1
    assert losses["calls of the operating system"] >= 20


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_disk_with_little_room(compiled, record, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", small], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        calls, losses = record(compiled, "naps", into=small)
    finally:
        subprocess.run(["umount", "-l", small], check=True)
    assert calls == []
    assert losses == {"processes without a log of calls of the operating system: No space left on device": 1, "calls of the operating system": 20}


def test_a_statically_linked_program(record, tmp_path):
    (tmp_path / "static.c").write_text("int main(void) { return 0; }")
    if subprocess.run(["cc", "-static", "-o", tmp_path / "static", tmp_path / "static.c"], capture_output=True, check=False).returncode:
        pytest.skip("no static C library here")
    calls, losses = record(tmp_path / "static")
    assert calls == [] and [place for place in losses if "no program could be watched" in place]
