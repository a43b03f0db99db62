// Lets a thread wait for a post from another one, or for a time. Posting is lock-free and cannot fail. A post before
// the wait is not missed: take ticket() before checking the condition.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace gpuprof::inject {

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

}  // namespace gpuprof::inject
