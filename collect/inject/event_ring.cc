#include "collect/inject/event_ring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace gpuprof::inject {
namespace {

std::atomic<EventRing*> rings{nullptr};
thread_local EventRing* own_ring __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

EventRing* EventRing::first() noexcept { return rings.load(std::memory_order_acquire); }

void EventRing::forget_all() noexcept {
    rings.store(nullptr, std::memory_order_relaxed);
    own_ring = nullptr;
}

EventRing* EventRing::of_this_thread() noexcept {
    if (own_ring != nullptr) return own_ring;
    void* memory = mmap(nullptr, sizeof(EventRing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* ring = new (memory) EventRing;
    ring->thread_ = static_cast<pid_t>(syscall(SYS_gettid));
    EventRing* before = rings.load(std::memory_order_relaxed);
    do ring->next_ = before;
    while (!rings.compare_exchange_weak(before, ring, std::memory_order_release, std::memory_order_relaxed));
    return own_ring = ring;
}

// An event never wraps around: where it does not fit before the end, the rest is zeroed but for its length. Readers know such
// padding by its time of 0, or because it is too short for an event.
void EventRing::add(spool::NvtxEvent event, std::string_view text) noexcept {
    if (text.size() > kLongestText) {
        text = text.substr(0, kLongestText);
        cut_.fetch_add(1, std::memory_order_relaxed);
    }
    std::size_t size = (sizeof event + text.size() + 7) / 8 * 8;
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    std::size_t at = head % kBytes, to_end = kBytes - at;
    std::size_t padding = size <= to_end ? 0 : to_end;
    if (head + padding + size - tail_.load(std::memory_order_acquire) > kBytes) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (padding > 0) {
        std::memset(bytes_ + at, 0, padding);
        auto length = static_cast<std::uint32_t>(padding);
        std::memcpy(bytes_ + at, &length, sizeof length);
        at = 0;
    }
    event.bytes = static_cast<std::uint32_t>(size);
    event.reserved = 0;
    if (event.text_kind == spool::TextKind::inline_text) event.text = text.size();
    std::memcpy(bytes_ + at, &event, sizeof event);
    if (!text.empty()) std::memcpy(bytes_ + at + sizeof event, text.data(), text.size());
    head_.store(head + padding + size, std::memory_order_release);
}

}  // namespace gpuprof::inject
