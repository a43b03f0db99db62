// Carries one thread's annotations and stream calls to the spool thread: a lock-free ring that the thread appends to and the spool
// thread empties. If it is full, events are dropped and counted; the thread never waits. A ring is mapped at a thread's
// first annotation and never unmapped, because a thread may end at any moment. The next new thread reuses the ring of
// one that ended.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "collect/inject/steps/step_watch.h"
#include "core/format/spool.h"

namespace gpuprof::inject {

struct LaunchReader;

class EventRing {
public:
    static constexpr std::size_t kBytes = 256 * 1024;
    static constexpr std::size_t kMaxTextBytes = 16 * 1024;

    static constexpr std::size_t kMaxRings = 1024;

    // The calling thread's ring; null if out of memory or if there are too many, which is counted.
    static EventRing* of_this_thread() noexcept;
    // Null if it has none yet.
    static EventRing* own() noexcept { return own_; }
    // All rings, newest first, and their number.
    static EventRing* first() noexcept;
    static std::size_t count() noexcept;
    // Events of threads without a ring.
    static std::uint64_t dropped_without_ring() noexcept;
    // Releases the rings of threads that have ended, once they are empty. Spool thread only.
    static void reclaim() noexcept;
    EventRing* next() const noexcept { return next_; }
    // In a forked child: its threads have no rings yet.
    static void forget_all() noexcept;

    // Appends an event and its text.
    void add(spool::HostEvent event, std::string_view text) noexcept;
    void add(const spool::StreamCall& call) noexcept;
    // Passes everything since the last call to take(bytes, size), in one or two pieces of whole events.
    template <class Take>
    void drain(Take&& take) noexcept {
        std::uint64_t head = head_.load(std::memory_order_acquire), tail = tail_.load(std::memory_order_relaxed);
        while (tail < head) {
            std::size_t at = tail % kBytes, end = at + static_cast<std::size_t>(head - tail);
            std::size_t size = (end < kBytes ? end : kBytes) - at;
            take(bytes_ + at, size);
            tail += size;
        }
        tail_.store(tail, std::memory_order_release);
    }
    pid_t thread() const noexcept { return thread_.load(std::memory_order_relaxed); }
    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
    std::uint64_t cut() const noexcept { return cut_.load(std::memory_order_relaxed); }

    // Used only by the owning thread. NVTX reports the nesting depth of pushes.
    int depth = 0;
    int window_depth = -1;      // of the push that opened the window
    std::uint32_t opening = 0;  // the window opening of the last event
    std::uint32_t calls = 0;    // number of annotations, to time some of them
    OpenStep step = {};
    LaunchReader* launches = nullptr;  // reads stacks (launch_stacks.h); of the next owner, too

private:
    static thread_local constinit EventRing* own_ __attribute__((tls_model("initial-exec")));
    static EventRing* map(pid_t thread) noexcept;
    static EventRing* claim(pid_t thread) noexcept;
    char* place_for(std::size_t size) noexcept;
    void publish(const char* event, std::size_t size) noexcept;

    EventRing* next_ = nullptr;
    std::atomic<pid_t> thread_{0};  // 0: unowned
    std::atomic<std::uint64_t> head_{0}, tail_{0}, dropped_{0}, cut_{0};
    alignas(8) char bytes_[kBytes];
};

}  // namespace gpuprof::inject
