// CUPTI's kinds follow the window, but only the spool thread switches them: not the program's threads, which CUPTI
// might block (CUPTI 13.0 can deadlock in Disable), not a CUPTI callback (cudaProfilerStart is seen in one), and never
// two threads at a time.
//
// Opening: the thread that opened the window waits until the kinds are on, for a tenth of a second at most. If the wait
// times out, launches are not recorded until the kinds are on, and the opening counts as late. Closing: no thread
// waits. The kinds stay on for a second, so that work in flight is delivered, and so that they are already on if the
// window reopens in that time. The reader drops launches of that second, outside all windows: the file says when they
// were open (core/format/spool.h).
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "collect/inject/spool/activity_spool.h"
#include "collect/inject/steps/window.h"

namespace gpuprof::inject {

// Lets a thread wait for a post from another one, or for a time. Posting is lock-free and cannot fail. A post before
// the wait is not missed: take ticket() before checking the condition.
class EventCount {
public:
    std::uint32_t ticket() const noexcept { return count_.load(std::memory_order_acquire); }
    void notify() noexcept {
        count_.fetch_add(1, std::memory_order_release);
        syscall(SYS_futex, &count_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    // Waits for a post after `ticket` was taken, at most `ns` (below a second); may return early.
    void wait(std::uint32_t ticket, long ns) noexcept {
        timespec timeout{0, ns};
        syscall(SYS_futex, &count_, FUTEX_WAIT_PRIVATE, ticket, &timeout, nullptr, 0);
    }

private:
    std::atomic<std::uint32_t> count_{0};
};

class ActivitySwitch {
public:
    // On the thread that starts CUPTI, within cuInit, before the spool thread may call it.
    void start(Activity& activity, const Window& window) noexcept;
    // On the thread that opened the window: waits for the spool thread.
    void wait_until_on(EventCount& spool_thread) noexcept;
    // The same within a callback of CUPTI, where a thread never waits for one that calls CUPTI.
    void switch_on_here(Activity& activity) noexcept;
    // The spool thread opened the window itself, and follows.
    void ask() noexcept { asked_.store(true); }
    // On the spool thread; `now` is CLOCK_MONOTONIC in ns. A window that another thread has just opened is left to that one
    // until the next round.
    void follow(Activity& activity, const Window& window, std::int64_t now) noexcept;
    bool on() const noexcept { return on_.load(std::memory_order_relaxed) != 0; }
    // Openings whose wait timed out, or that came while the kinds were being switched.
    std::uint64_t late() const noexcept { return late_.load(std::memory_order_relaxed); }

private:
    void switch_off(Activity& activity, const Window& window, std::int64_t now) noexcept;

    std::atomic<int> on_{0};  // changed only by read-modify-write, so that an opening and a switch-off see each other
    std::atomic<std::uint64_t> late_{0};
    pthread_mutex_t switching_ = PTHREAD_MUTEX_INITIALIZER;  // only tried
    std::atomic<bool> asked_{false};
    bool seen_open_ = false;
    std::int64_t closed_since_ = 0;  // as first seen by the spool thread; 0: open
    EventCount switched_;
};

}  // namespace gpuprof::inject
