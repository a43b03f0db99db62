#include "collect/inject/host/event_ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace gpuprof::inject {
namespace {

std::atomic<EventRing*> rings{nullptr};
std::atomic<std::size_t> ring_count{0};
std::atomic<std::uint64_t> without_ring{0};

}  // namespace

thread_local constinit EventRing* EventRing::own_ = nullptr;

EventRing* EventRing::first() noexcept { return rings.load(std::memory_order_acquire); }

std::size_t EventRing::count() noexcept { return ring_count.load(std::memory_order_relaxed); }
std::uint64_t EventRing::dropped_without_ring() noexcept { return without_ring.load(std::memory_order_relaxed); }

void EventRing::forget_all() noexcept {
    rings.store(nullptr, std::memory_order_relaxed);
    ring_count.store(0, std::memory_order_relaxed);
    own_ = nullptr;
}

EventRing* EventRing::of_this_thread() noexcept {
    if (own_ != nullptr) return own_;
    auto self = static_cast<pid_t>(syscall(SYS_gettid));
    own_ = claim(self);
    if (own_ == nullptr) own_ = map(self);
    if (own_ == nullptr) without_ring.fetch_add(1, std::memory_order_relaxed);
    return own_;
}

EventRing* EventRing::map(pid_t thread) noexcept {
    if (count() >= kMaxRings) return nullptr;
    void* memory = mmap(nullptr, sizeof(EventRing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* ring = new (memory) EventRing;
    ring->thread_.store(thread, std::memory_order_relaxed);
    ring_count.fetch_add(1, std::memory_order_relaxed);
    EventRing* before = rings.load(std::memory_order_relaxed);
    do ring->next_ = before;
    while (!rings.compare_exchange_weak(before, ring, std::memory_order_release, std::memory_order_relaxed));
    return ring;
}

EventRing* EventRing::claim(pid_t thread) noexcept {
    for (EventRing* ring = first(); ring != nullptr; ring = ring->next_) {
        pid_t unclaimed = 0;
        if (ring->thread_.load(std::memory_order_relaxed) != 0) continue;
        if (!ring->thread_.compare_exchange_strong(unclaimed, thread, std::memory_order_acquire)) continue;
        ring->depth = 0;
        ring->window_depth = -1;
        ring->opening = 0;
        ring->calls = 0;
        ring->step = {};
        return ring;
    }
    return nullptr;
}

// If another thread has reused the thread id, the ring is only kept for longer.
void EventRing::reclaim() noexcept {
    pid_t process = getpid();
    for (EventRing* ring = first(); ring != nullptr; ring = ring->next_) {
        if (ring->thread() == 0 || syscall(SYS_tgkill, process, ring->thread(), 0) == 0 || errno != ESRCH) continue;
        bool empty = ring->head_.load(std::memory_order_acquire) == ring->tail_.load(std::memory_order_relaxed);
        if (empty) ring->thread_.store(0, std::memory_order_release);
    }
}

// An event never wraps around: if it does not fit before the end, the rest is zeroed except for its length. Readers
// recognise such padding by its time of 0, or because it is too short for an event. Null if there is no room, which is
// counted.
char* EventRing::place_for(std::size_t size) noexcept {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    std::size_t at = head % kBytes, to_end = kBytes - at;
    std::size_t padding = size <= to_end ? 0 : to_end;
    if (head + padding + size - tail_.load(std::memory_order_acquire) > kBytes) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    if (padding == 0) return bytes_ + at;
    std::memset(bytes_ + at, 0, padding);
    auto length = static_cast<std::uint32_t>(padding);
    std::memcpy(bytes_ + at, &length, sizeof length);
    return bytes_;
}

// Hands the event at the place, and padding before it, to the spool thread.
void EventRing::publish(const char* event, std::size_t size) noexcept {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    std::size_t at = head % kBytes, begin = static_cast<std::size_t>(event - bytes_);
    std::size_t padding = begin == at ? 0 : kBytes - at;
    head_.store(head + padding + size, std::memory_order_release);
}

void EventRing::add(spool::HostEvent event, std::string_view text) noexcept {
    if (text.size() > kMaxTextBytes) {
        text = text.substr(0, kMaxTextBytes);
        cut_.fetch_add(1, std::memory_order_relaxed);
    }
    std::size_t size = (sizeof event + text.size() + 7) / 8 * 8;
    char* to = place_for(size);
    if (to == nullptr) return;
    event.bytes = static_cast<std::uint32_t>(size);
    if (event.text_kind == spool::TextKind::inline_text) event.text = text.size();
    std::memcpy(to, &event, sizeof event);
    if (!text.empty()) std::memcpy(to + sizeof event, text.data(), text.size());
    publish(to, size);
}

void EventRing::add(const spool::StreamCall& call) noexcept {
    char* to = place_for(sizeof call);
    if (to == nullptr) return;
    std::memcpy(to, &call, sizeof call);
    publish(to, sizeof call);
}

}  // namespace gpuprof::inject
