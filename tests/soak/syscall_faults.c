// Runs a command and makes one of its system calls fail, or that one and all later ones. With ptrace, because a preloaded library does
// not see the calls that the C library makes for stdio, and because every process of the command counts.
//
//   syscall_faults CALLS LOG NUMBER WHAT COMMAND...
//
//   CALLS    names of system calls, with commas between
//   LOG      receives a line for each call that counts: "NUMBER NAME FILE". FILE is as in /proc/PID/fd
//   NUMBER   of the call that fails, from 1; 0: none. With + behind it, all later ones of the same name fail too
//   WHAT     EIO and so on; short: the call gets a sixteenth of its length, at least a byte; end: it returns 0
//
// A call does not count if it is on a file of the system or a library (of which programs read many when they start), or on standard
// error, where failures are said. One that fails does nothing, but close, which closes all the same. Ends as the command does: with its
// status, or by its signal. Status 125: tracing is not possible here.
//
// A filter of seccomp stops the command only at these calls. x86-64 and AArch64.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// linux/ptrace.h and sys/ptrace.h cannot be included together in older systems.
extern long ptrace(int request, ...);

enum { kImpossible = 125, kMostCalls = 64 };

// Which argument is the file: a descriptor, a path below a folder's descriptor, or a path.
enum Place { kDescriptor, kAt, kPath, kSecondAt, kNowhere };
struct Call {
    const char* name;
    long number;
    enum Place place;
    int length;  // which argument is the length in bytes; -1: none
};
static const struct Call known_calls[] = {
    {"read", SYS_read, kDescriptor, 2},
    {"pread64", SYS_pread64, kDescriptor, 2},
    {"readv", SYS_readv, kDescriptor, -1},
    {"openat", SYS_openat, kAt, -1},
    {"newfstatat", SYS_newfstatat, kAt, -1},
    {"fstat", SYS_fstat, kDescriptor, -1},
    {"statfs", SYS_statfs, kPath, -1},
    {"fstatfs", SYS_fstatfs, kDescriptor, -1},
    {"lseek", SYS_lseek, kDescriptor, -1},
    {"getdents64", SYS_getdents64, kDescriptor, -1},
    {"mmap", SYS_mmap, kDescriptor, -1},
    {"write", SYS_write, kDescriptor, 2},
    {"pwrite64", SYS_pwrite64, kDescriptor, 2},
    {"writev", SYS_writev, kDescriptor, -1},
    {"fsync", SYS_fsync, kDescriptor, -1},
    {"fdatasync", SYS_fdatasync, kDescriptor, -1},
    {"ftruncate", SYS_ftruncate, kDescriptor, -1},
    {"fallocate", SYS_fallocate, kDescriptor, -1},
    {"fchmod", SYS_fchmod, kDescriptor, -1},
    {"close", SYS_close, kDescriptor, -1},
    {"mkdirat", SYS_mkdirat, kAt, -1},
    {"linkat", SYS_linkat, kSecondAt, -1},
    {"renameat", SYS_renameat, kAt, -1},
    {"renameat2", SYS_renameat2, kAt, -1},
    {"unlinkat", SYS_unlinkat, kAt, -1},
    {"copy_file_range", SYS_copy_file_range, kDescriptor, -1},
    {"sendfile", SYS_sendfile, kDescriptor, -1},
    {"clone", SYS_clone, kNowhere, -1},
    {"clone3", SYS_clone3, kNowhere, -1},
#ifdef __x86_64__
    {"open", SYS_open, kPath, -1},
    {"stat", SYS_stat, kPath, -1},
    {"lstat", SYS_lstat, kPath, -1},
    {"mkdir", SYS_mkdir, kPath, -1},
    {"link", SYS_link, kPath, -1},
    {"rename", SYS_rename, kPath, -1},
    {"unlink", SYS_unlink, kPath, -1},
    {"rmdir", SYS_rmdir, kPath, -1},
    {"fork", SYS_fork, kNowhere, -1},
    {"vfork", SYS_vfork, kNowhere, -1},
#endif
};
static const struct {
    const char* name;
    int number;
} known_errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EMFILE", EMFILE}, {"EACCES", EACCES},
                    {"ENOMEM", ENOMEM}, {"EINTR", EINTR},   {"EROFS", EROFS},   {"EAGAIN", EAGAIN}};

static const struct Call* calls[kMostCalls];
static int call_count;
static FILE* log_file;
static long fails_at, seen;
static int and_later, error_number;
static const struct Call* failing;   // the name, once it is known
static pid_t closing[kMostCalls];    // threads whose close() is to fail when it returns
static enum { kError, kShort, kEnd } fault;

static void die(const char* what) {
    fprintf(stderr, "syscall_faults: %s: %s\n", what, strerror(errno));
    exit(kImpossible);
}

static void read_plan(char** words) {
    for (char* name = strtok(words[0], ","); name != NULL; name = strtok(NULL, ",")) {
        for (size_t i = 0; i < sizeof known_calls / sizeof *known_calls; ++i)
            if (strcmp(known_calls[i].name, name) == 0 && call_count < kMostCalls) calls[call_count++] = &known_calls[i];
    }
    log_file = fopen(words[1], "we");
    if (log_file == NULL) die(words[1]);
    char* rest = NULL;
    fails_at = strtol(words[2], &rest, 10);
    and_later = *rest == '+';
    if (strcmp(words[3], "short") == 0) fault = kShort;
    if (strcmp(words[3], "end") == 0) fault = kEnd;
    for (size_t i = 0; i < sizeof known_errors / sizeof *known_errors; ++i)
        if (strcmp(words[3], known_errors[i].name) == 0) error_number = known_errors[i].number;
    if (fault == kError && error_number == 0 && fails_at != 0) {
        errno = EINVAL;
        die(words[3]);
    }
}

// In the child: only the chosen calls stop it.
static void filter_calls(void) {
    struct sock_filter code[kMostCalls + 3];
    int size = 0;
    code[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < call_count; ++i)
        code[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i]->number, (unsigned char)(call_count - i), 0);
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {(unsigned short)size, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) die("seccomp");
}

static void link_of(pid_t thread, const char* name, char* into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/%s", thread, name);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    into[size > 0 ? size : 0] = '\0';
}

static void file_of(pid_t thread, const struct Call* call, const __u64* arguments, char* into) {
    char name[32];
    int at = call->place == kSecondAt ? 2 : 0;
    int descriptor = (int)arguments[call->number == SYS_mmap ? 4 : at];
    into[0] = '\0';
    if (call->place == kNowhere) return;
    snprintf(name, sizeof name, "fd/%d", descriptor);
    if (call->place == kDescriptor) {
        link_of(thread, name, into);
        return;
    }
    char path[PATH_MAX + 1] = "";
    struct iovec here = {path, PATH_MAX}, there = {(void*)arguments[call->place == kPath ? 0 : at + 1], PATH_MAX};
    // A path may end just before a page that does not exist.
    for (; there.iov_len > 0 && process_vm_readv(thread, &here, 1, &there, 1, 0) < 0; there.iov_len /= 2)
        here.iov_len = there.iov_len / 2;
    if (path[0] != '/') {
        link_of(thread, call->place == kPath || descriptor == AT_FDCWD ? "cwd" : name, into);
        if (path[0] != '\0') strncat(into, "/", PATH_MAX - strlen(into) - 1);
    }
    strncat(into, path, PATH_MAX - strlen(into) - 1);
}

static int begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

static int counts(const struct Call* call, const __u64* arguments, const char* file) {
    if (call->place == kNowhere) return 1;
    if (file[0] == '\0' || (call->place == kDescriptor && call->number != SYS_mmap && arguments[0] == STDERR_FILENO)) return 0;
    const char* library = strstr(file, ".so");
    if (library != NULL && (library[3] == '\0' || library[3] == '.')) return 0;
    static const char* const of_system[] = {"/usr/", "/lib/", "/lib64/", "/etc/", "/dev/", "/opt/"};
    for (size_t i = 0; i < sizeof of_system / sizeof *of_system; ++i)
        if (begins(file, of_system[i])) return 0;
    return 1;
}

#ifdef __x86_64__
#include <sys/user.h>
typedef struct user_regs_struct Registers;
static void give(pid_t thread, Registers* registers, long value) {
    (void)thread;
    registers->orig_rax = (unsigned long long)-1;
    registers->rax = (unsigned long long)value;
}
static void set_result(Registers* registers, long value) { registers->rax = (unsigned long long)value; }
static void shorten(Registers* registers, int place, __u64 length) {
    if (place == 2) registers->rdx = length;
}
#elif defined(__aarch64__)
#include <asm/ptrace.h>
typedef struct user_pt_regs Registers;
static void give(pid_t thread, Registers* registers, long value) {
    int none = -1;
    struct iovec place = {&none, sizeof none};
    if (ptrace(PTRACE_SETREGSET, thread, (void*)NT_ARM_SYSTEM_CALL, &place) != 0) die("changing a call");
    registers->regs[0] = (unsigned long long)value;
}
static void set_result(Registers* registers, long value) { registers->regs[0] = (unsigned long long)value; }
static void shorten(Registers* registers, int place, __u64 length) { registers->regs[place] = length; }
#else
#error "registers of this architecture"
#endif

static pid_t* closing_of(pid_t thread) {
    for (int i = 0; i < kMostCalls; ++i)
        if (closing[i] == thread) return &closing[i];
    return NULL;
}

// A stop at the beginning or end of close().
static void at_close(pid_t thread) {
    struct ptrace_syscall_info about;
    memset(&about, 0, sizeof about);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof about, &about) <= 0 || about.op != PTRACE_SYSCALL_INFO_EXIT) return;
    *closing_of(thread) = 0;
    Registers registers;
    struct iovec place = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void*)NT_PRSTATUS, &place) != 0) return;
    set_result(&registers, -error_number);
    if (ptrace(PTRACE_SETREGSET, thread, (void*)NT_PRSTATUS, &place) != 0) die("changing a result");
}

static void at_call(pid_t thread) {
    struct ptrace_syscall_info about;
    memset(&about, 0, sizeof about);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof about, &about) <= 0 || about.op != PTRACE_SYSCALL_INFO_SECCOMP) return;
    const struct Call* call = NULL;
    for (int i = 0; i < call_count; ++i)
        if ((unsigned long)calls[i]->number == about.seccomp.nr) call = calls[i];
    char file[PATH_MAX + 1];
    if (call == NULL) return;
    file_of(thread, call, about.seccomp.args, file);
    if (!counts(call, about.seccomp.args, file)) return;
    ++seen;
    fprintf(log_file, "%ld %s %s\n", seen, call->name, file);
    if (fails_at == 0 || seen < fails_at || (seen > fails_at && (!and_later || call != failing))) return;
    failing = call;
    if (call->number == SYS_close) {
        for (int i = 0; i < kMostCalls; ++i)
            if (closing[i] == 0) {
                closing[i] = thread;
                return;
            }
    }
    Registers registers;
    struct iovec place = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void*)NT_PRSTATUS, &place) != 0) return;
    if (fault == kShort) {
        if (call->length < 0 || about.seccomp.args[call->length] < 2) return;
        __u64 length = about.seccomp.args[call->length] / 16;
        shorten(&registers, call->length, length > 0 ? length : 1);
    } else {
        give(thread, &registers, fault == kEnd ? 0 : -error_number);
    }
    place.iov_len = sizeof registers;
    if (ptrace(PTRACE_SETREGSET, thread, (void*)NT_PRSTATUS, &place) != 0) die("changing a call");
}

static pid_t start(char** command) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) die("pipe");
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
        char byte;
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1) _exit(kImpossible);
        filter_calls();
        execvp(command[0], command);
        die(command[0]);
    }
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    if (ptrace(PTRACE_SEIZE, child, NULL, options) != 0) die("ptrace");
    if (write(ready[1], "", 1) != 1) die("pipe");
    close(ready[0]);
    close(ready[1]);
    return child;
}

// The wait status of the command, when all its processes have ended.
static int follow(pid_t command) {
    int status, ended = 0;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (thread <= 0) continue;
        if (!WIFSTOPPED(status)) {
            if (thread == command) ended = status;
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_SECCOMP) at_call(thread);
        int of_close = event == 0 && signal == (SIGTRAP | 0x80);
        if (of_close && closing_of(thread) != NULL) at_close(thread);
        if (event == PTRACE_EVENT_STOP && (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU))
            ptrace(PTRACE_LISTEN, thread, NULL, NULL);  // stopped by job control
        else
            ptrace(closing_of(thread) != NULL ? PTRACE_SYSCALL : PTRACE_CONT, thread, NULL, (long)(event == 0 && !of_close ? signal : 0));
    }
    return ended;
}

int main(int count, char** words) {
    if (count < 6) {
        fprintf(stderr, "usage: syscall_faults CALLS LOG NUMBER WHAT COMMAND...\n");
        return kImpossible;
    }
    read_plan(words + 1);
    int status = follow(start(words + 5));
    if (fclose(log_file) != 0) die("log");
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
