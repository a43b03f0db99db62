// Enters calls of this process into its log (log.h). Everything here may run in a signal handler, in a thread that ends, in a
// forked child and in a child of vfork(): it takes no lock, allocates no memory but by system calls, needs no
// thread-local data that might be gone, and keeps errno.
//
// Who may write is decided by a page that the kernel zeroes in every child with memory of its own (MADV_WIPEONFORK): a
// child begins a log of its own with its first call. A child of vfork() has its parent's memory, page included; its
// process id differs from the log's, so its calls are not entered.
//
// A program may run under a seccomp filter, which can end it for any call that is not on its list. If the program had one when it was
// started, only the calls are made that the dynamic linker makes (openat, read, write, mmap, close): a handler of fork() takes the kernel's
// place, and children of vfork() count as their parent. From the moment that the program itself asks for one (prctl, seccomp), it makes no call:
// the log that there is fills up, and further calls are counted as lost.
#pragma once

#include <errno.h>

#include <atomic>

#include "collect/os_calls/os_call_log.h"
#include "core/base/clock.h"

namespace gpuprof::os_calls {

// One page.
struct OwnPage {
    std::atomic<LogHeader*> log;
    std::atomic<std::uint32_t> state;  // 0: no log yet; then one of LogState
    std::uint32_t files;               // logs begun
    std::int64_t process;
    char path[3200];  // of the log that is being begun; stacks of signal handlers are small
};
static_assert(sizeof(OwnPage) <= 4096);

// Null until the library is ready, and for ever in a program that is not recorded.
extern OwnPage* own_page;

// The log that calls of this process go to; null if there is none.
LogHeader* begin_log() noexcept;
inline LogHeader* current_log() noexcept {
    OwnPage* page = own_page;
    if (page == nullptr) [[unlikely]]
        return nullptr;
    LogHeader* log = page->log.load(std::memory_order_acquire);
    return log != nullptr ? log : begin_log();
}

// The C library's own syscall(), past the wrapper of this library.
long next_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept;

// Null if the launcher's file could not be mapped.
extern SharedCounts* shared_counts;

// The program is about to restrict itself.
void seal() noexcept;
// The calling thread may not even read the clock any more: strict seccomp forbids the instruction. Its calls are counted as lost.
extern __thread bool clockless __attribute__((tls_model("initial-exec")));
void count_untimed() noexcept;
// Counts a call of a process that could not begin a log.
void count_lost(std::int64_t ns) noexcept;
// Whether the calling thread is the recorder's own, whose calls are not the program's.
extern __thread bool recorders_thread __attribute__((tls_model("initial-exec")));

void enter(LogHeader* log, Function function, std::int64_t ns) noexcept;

// Calls `real` and times it. The thread may be cancelled inside, so this frame may be unwound: it is not noexcept, and has
// nothing to clean up.
template <class Real>
inline auto timed(Function function, Real real) {
    int before = errno;
    LogHeader* log = current_log();
    errno = before;
    if ((log == nullptr && shared_counts == nullptr) || recorders_thread) return real();
    if (clockless) [[unlikely]]
        return count_untimed(), real();
    std::int64_t begin = monotonic_ns();
    auto result = real();
    std::int64_t ns = monotonic_ns() - begin;
    if (log == nullptr) {
        count_lost(ns);
    } else if (ns >= static_cast<std::int64_t>(log->least_ns)) {
        int after = errno;
        enter(log, function, ns);
        errno = after;
    } else {
        ShortCalls& shorter = log->short_calls[static_cast<std::size_t>(function)];
        shorter.count.fetch_add(1, std::memory_order_relaxed);
        shorter.ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
    }
    return result;
}

}  // namespace gpuprof::os_calls
