// The buffers that CUPTI fills: a fixed pool, mapped on demand and never freed, because CUPTI may write to a buffer for
// the lifetime of the process.
// CUPTI requests and returns buffers on any thread, including the program's. A request takes one slot; a return copies names
// of kernels that are new (kernel_names.h).
// Returned buffers wait for the spool thread. When the pool is exhausted, CUPTI gets no buffer and counts what it
// drops; versions that crash without a buffer get a spare one whose records are counted and discarded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/inject/cupti/cupti_api.h"

namespace gpuprof::inject {

class Buffers {
public:
    // CUPTI may hold one per thread, so many small buffers are better than few large ones.
    static constexpr std::size_t kBytes = std::size_t{256} << 10;
    static constexpr std::size_t kMaxBuffers = 256;

    // Registers the two functions with CUPTI; returns its result.
    int hand_to(const Cupti& cupti) noexcept;
    // Passes the oldest returned buffer to take(bytes, valid), then frees it. False if there is none.
    template <class Take>
    bool take_earliest(Take&& take) noexcept {
        Slot* slot = earliest_returned();
        if (slot == nullptr) return false;
        if (slot->valid > 0) take(slot->bytes.load(std::memory_order_relaxed), slot->valid);
        free(*slot);
        return true;
    }
    // In a forked child: the parent's CUPTI holds buffers of the parent only.
    void forget() noexcept;
    // Buffers still held by CUPTI, plus returned ones that were not taken.
    std::uint64_t given() const noexcept;
    std::uint64_t outstanding() const noexcept;
    // Returned buffers that were not ours.
    std::uint64_t unknown() const noexcept { return unknown_.load(std::memory_order_relaxed); }
    // Dropped records for lack of room.
    std::uint64_t discarded() const noexcept { return discarded_.load(std::memory_order_relaxed); }

private:
    enum State : std::uint32_t { kFree, kGiven, kReturned };
    struct Slot {
        std::atomic<std::uint32_t> state{kFree};
        std::uint64_t turn = 0;  // order of return
        std::size_t valid = 0;
        std::atomic<std::uint8_t*> bytes{nullptr};
    };
    // Buffers for versions that must be given one.
    struct alignas(64) Spare {
        static constexpr std::size_t kSize = std::size_t{64} << 10;
        std::atomic<std::uint32_t> state{kFree};
        alignas(8) std::uint8_t bytes[kSize] = {};
    };
    static constexpr std::size_t kMaxSpares = 64;
    static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) noexcept;
    static void complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                         std::size_t valid) noexcept;
    static bool mapped(Slot& slot) noexcept;
    static void request_spare(std::uint8_t** buffer, std::size_t* size) noexcept;
    static bool complete_spare(std::uint8_t* buffer, std::size_t valid) noexcept;
    Slot* earliest_returned() noexcept;
    static void free(Slot& slot) noexcept;

    Slot slots_[kMaxBuffers];
    Spare spares_[kMaxSpares];
    std::atomic<std::uint64_t> turns_{0}, unknown_{0}, discarded_{0};
    bool needs_buffer_ = false;  // CUPTI crashes without one
    bool owns_data_ = false;     // of records of overhead
    const Cupti* cupti_ = nullptr;
};

Buffers& buffers() noexcept;

}  // namespace gpuprof::inject
