// The functions of the C library that take the place of the real ones in a recorded program: each calls the next one of
// its name, and times it (recorder.h). They have the names of the C library for the linker alone, so that no header of the
// C library is contradicted: types are as wide as the real ones, and pointers are not looked into.
//
// The next functions are looked up when the library is loaded, because the lookup takes the dynamic linker's lock, which may
// be held for ever in a forked child. Constructors of other libraries may call earlier; then each looks up its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstring>

#include "collect/os_calls/recorder.h"

namespace gpuprof::os_calls {
namespace {

// glibc before 2.36 gives dlsym() the oldest version of a function, and condition variables had another layout before
// 2.3.2 (nptl/old_pthread_cond_wait.c). Only x86-64 is as old as that.
void* find_next(const char* name) {
    static constexpr const char* kSince_2_3_2[] = {"pthread_cond_wait", "pthread_cond_timedwait"};
    for (const char* each : kSince_2_3_2)
        if (std::strcmp(name, each) == 0)
            if (void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"); found != nullptr) return found;
    return dlsym(RTLD_NEXT, name);
}

// What a function says that this C library lacks: those of threads return the error.
template <class Result>
Result unavailable(const char* name) {
    errno = ENOSYS;
    return std::strncmp(name, "pthread_", 8) == 0 ? static_cast<Result>(ENOSYS) : static_cast<Result>(-1);
}

bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace
}  // namespace gpuprof::os_calls

using gpuprof::os_calls::Function;
using std::size_t;

// NAME is the symbol, FUNCTION its row.
#define GPUPROF_NEXT(result, name, parameters)                                                         \
    static result(*next_##name) parameters = nullptr;                                                  \
    [[gnu::constructor]] static void find_##name() {                                                   \
        if (next_##name == nullptr)                                                                    \
            next_##name = reinterpret_cast<result(*) parameters>(gpuprof::os_calls::find_next(#name)); \
    }                                                                                                  \
    extern "C" __attribute__((visibility("default")))
#define GPUPROF_TIME_AS(result, name, function, parameters, arguments)                                 \
    GPUPROF_NEXT(result, name, parameters) result gpuprof_##name parameters __asm__(#name);            \
    result gpuprof_##name parameters {                                                                 \
        if (next_##name == nullptr) find_##name();                                                     \
        if (next_##name == nullptr) return gpuprof::os_calls::unavailable<result>(#name);              \
        return gpuprof::os_calls::timed(Function::function##_, [&] { return next_##name arguments; }); \
    }
#define GPUPROF_TIME(result, name, parameters, arguments) GPUPROF_TIME_AS(result, name, name, parameters, arguments)

GPUPROF_TIME(long, read, (int file, void* to, size_t size), (file, to, size))
GPUPROF_TIME_AS(long, __read_chk, read, (int file, void* to, size_t size, size_t room), (file, to, size, room))
GPUPROF_TIME(long, readv, (int file, const void* to, int count), (file, to, count))
GPUPROF_TIME(long, pread, (int file, void* to, size_t size, long at), (file, to, size, at))
GPUPROF_TIME_AS(long, pread64, pread, (int file, void* to, size_t size, long at), (file, to, size, at))
GPUPROF_TIME_AS(long, __pread_chk, pread, (int file, void* to, size_t size, long at, size_t room),
                (file, to, size, at, room))
GPUPROF_TIME_AS(long, __pread64_chk, pread, (int file, void* to, size_t size, long at, size_t room),
                (file, to, size, at, room))
GPUPROF_TIME(long, preadv, (int file, const void* to, int count, long at), (file, to, count, at))
GPUPROF_TIME_AS(long, preadv64, preadv, (int file, const void* to, int count, long at), (file, to, count, at))
GPUPROF_TIME(long, write, (int file, const void* from, size_t size), (file, from, size))
GPUPROF_TIME(long, writev, (int file, const void* from, int count), (file, from, count))
GPUPROF_TIME(long, pwrite, (int file, const void* from, size_t size, long at), (file, from, size, at))
GPUPROF_TIME_AS(long, pwrite64, pwrite, (int file, const void* from, size_t size, long at), (file, from, size, at))
GPUPROF_TIME(long, pwritev, (int file, const void* from, int count, long at), (file, from, count, at))
GPUPROF_TIME_AS(long, pwritev64, pwritev, (int file, const void* from, int count, long at), (file, from, count, at))
GPUPROF_TIME(int, fsync, (int file), (file))
GPUPROF_TIME(int, fdatasync, (int file), (file))
GPUPROF_TIME(int, msync, (void* from, size_t size, int flags), (from, size, flags))
GPUPROF_TIME(int, flock, (int file, int operation), (file, operation))
GPUPROF_TIME(long, sendfile, (int to, int from, void* at, size_t size), (to, from, at, size))
GPUPROF_TIME_AS(long, sendfile64, sendfile, (int to, int from, void* at, size_t size), (to, from, at, size))

GPUPROF_TIME(int, poll, (void* files, unsigned long count, int ms), (files, count, ms))
GPUPROF_TIME_AS(int, __poll_chk, poll, (void* files, unsigned long count, int ms, size_t room),
                (files, count, ms, room))
GPUPROF_TIME(int, ppoll, (void* files, unsigned long count, const void* time, const void* signals),
             (files, count, time, signals))
GPUPROF_TIME_AS(int, __ppoll_chk, ppoll,
                (void* files, unsigned long count, const void* time, const void* signals, size_t room),
                (files, count, time, signals, room))
GPUPROF_TIME(int, select, (int count, void* in, void* out, void* other, void* time), (count, in, out, other, time))
GPUPROF_TIME(int, pselect, (int count, void* in, void* out, void* other, const void* time, const void* signals),
             (count, in, out, other, time, signals))
GPUPROF_TIME(int, epoll_wait, (int file, void* events, int count, int ms), (file, events, count, ms))
GPUPROF_TIME(int, epoll_pwait, (int file, void* events, int count, int ms, const void* signals),
             (file, events, count, ms, signals))

GPUPROF_TIME(long, recv, (int file, void* to, size_t size, int flags), (file, to, size, flags))
GPUPROF_TIME_AS(long, __recv_chk, recv, (int file, void* to, size_t size, size_t room, int flags),
                (file, to, size, room, flags))
GPUPROF_TIME(long, recvfrom, (int file, void* to, size_t size, int flags, void* address, void* length),
             (file, to, size, flags, address, length))
GPUPROF_TIME_AS(long, __recvfrom_chk, recvfrom,
                (int file, void* to, size_t size, size_t room, int flags, void* address, void* length),
                (file, to, size, room, flags, address, length))
GPUPROF_TIME(long, recvmsg, (int file, void* message, int flags), (file, message, flags))
GPUPROF_TIME(long, send, (int file, const void* from, size_t size, int flags), (file, from, size, flags))
GPUPROF_TIME(long, sendto, (int file, const void* from, size_t size, int flags, const void* address, unsigned length),
             (file, from, size, flags, address, length))
GPUPROF_TIME(long, sendmsg, (int file, const void* message, int flags), (file, message, flags))
GPUPROF_TIME(int, accept, (int file, void* address, void* length), (file, address, length))
GPUPROF_TIME(int, accept4, (int file, void* address, void* length, int flags), (file, address, length, flags))
GPUPROF_TIME(int, connect, (int file, const void* address, unsigned length), (file, address, length))

GPUPROF_TIME(int, nanosleep, (const void* time, void* rest), (time, rest))
GPUPROF_TIME(int, clock_nanosleep, (int clock, int flags, const void* time, void* rest), (clock, flags, time, rest))
GPUPROF_TIME(int, usleep, (unsigned us), (us))
GPUPROF_TIME(unsigned, sleep, (unsigned s), (s))
GPUPROF_TIME(int, sem_wait, (void* semaphore), (semaphore))
GPUPROF_TIME(int, sem_timedwait, (void* semaphore, const void* time), (semaphore, time))
GPUPROF_TIME(int, sem_clockwait, (void* semaphore, int clock, const void* time), (semaphore, clock, time))
GPUPROF_TIME(int, pthread_cond_wait, (void* condition, void* mutex), (condition, mutex))
GPUPROF_TIME(int, pthread_cond_timedwait, (void* condition, void* mutex, const void* time), (condition, mutex, time))
GPUPROF_TIME(int, pthread_cond_clockwait, (void* condition, void* mutex, int clock, const void* time),
             (condition, mutex, clock, time))
GPUPROF_TIME(int, pthread_join, (unsigned long thread, void** result), (thread, result))
GPUPROF_TIME(int, pthread_barrier_wait, (void* barrier), (barrier))
GPUPROF_TIME(int, wait, (int* status), (status))
GPUPROF_TIME(int, waitpid, (int process, int* status, int flags), (process, status, flags))
GPUPROF_TIME(int, wait3, (int* status, int flags, void* usage), (status, flags, usage))
GPUPROF_TIME(int, wait4, (int process, int* status, int flags, void* usage), (process, status, flags, usage))
GPUPROF_TIME(int, waitid, (int kind, unsigned process, void* about, int flags), (kind, process, about, flags))

GPUPROF_TIME_AS(int, __open_2, open, (const char* path, int flags), (path, flags))
GPUPROF_TIME_AS(int, __open64_2, open, (const char* path, int flags), (path, flags))
GPUPROF_TIME_AS(int, __openat_2, openat, (int folder, const char* path, int flags), (folder, path, flags))
GPUPROF_TIME_AS(int, __openat64_2, openat, (int folder, const char* path, int flags), (folder, path, flags))

// The mode is there only if a file may be created.
#define GPUPROF_TIME_OPEN(name, function, parameters, arguments)                                       \
    GPUPROF_NEXT(int, name, parameters) int gpuprof_##name parameters __asm__(#name);                  \
    int gpuprof_##name parameters {                                                                    \
        unsigned mode = 0;                                                                             \
        if (gpuprof::os_calls::takes_mode(flags)) {                                                    \
            va_list more;                                                                              \
            va_start(more, flags);                                                                     \
            mode = va_arg(more, unsigned);                                                             \
            va_end(more);                                                                              \
        }                                                                                              \
        if (next_##name == nullptr) find_##name();                                                     \
        if (next_##name == nullptr) return gpuprof::os_calls::unavailable<int>(#name);                 \
        return gpuprof::os_calls::timed(Function::function##_, [&] { return next_##name arguments; }); \
    }
GPUPROF_TIME_OPEN(open, open, (const char* path, int flags, ...), (path, flags, mode))
GPUPROF_TIME_OPEN(open64, open, (const char* path, int flags, ...), (path, flags, mode))
GPUPROF_TIME_OPEN(openat, openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
GPUPROF_TIME_OPEN(openat64, openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

// Not timed, only looked at: after these the recorder may ask the kernel for nothing (recorder.h). In a forked child of a program that
// has restricted itself, too.
GPUPROF_NEXT(long, syscall, (long number, long a, long b, long c, long d, long e, long f))
long gpuprof_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
long gpuprof_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_seccomp && a != SECCOMP_GET_ACTION_AVAIL) gpuprof::os_calls::seal();
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT) gpuprof::os_calls::clockless = true;
    if (next_syscall == nullptr) find_syscall();
    return next_syscall(number, a, b, c, d, e, f);
}

GPUPROF_NEXT(int, prctl, (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d))
int gpuprof_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) __asm__("prctl");
int gpuprof_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    if (option == PR_SET_SECCOMP) gpuprof::os_calls::seal();
    if ((option == PR_SET_SECCOMP && a == SECCOMP_MODE_STRICT) || (option == PR_SET_TSC && a == PR_TSC_SIGSEGV))
        gpuprof::os_calls::clockless = true;
    if (next_prctl == nullptr) find_prctl();
    return next_prctl(option, a, b, c, d);
}

long gpuprof::os_calls::next_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
    if (::next_syscall == nullptr) find_syscall();
    return ::next_syscall(number, a, b, c, d, e, f);
}
