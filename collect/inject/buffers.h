// The buffers that CUPTI fills: a fixed pool, mapped as it is needed and never freed, for CUPTI may write to one for as long as
// the process lives. CUPTI asks for a buffer and returns it on whatever thread it likes, the program's included; both
// functions take one slot and return. Returned buffers wait for the spool thread. When the pool is used up, CUPTI gets none and
// counts what it drops; versions that do not survive that get a buffer whose records are counted and thrown away.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/inject/cupti_api.h"

namespace gpuprof::inject {

class Buffers {
public:
    // CUPTI may hold one for each thread: rather many than large.
    static constexpr std::size_t kBytes = std::size_t{256} << 10;
    static constexpr std::size_t kMost = 256;

    // Gives CUPTI the two functions; its answer.
    int hand_to(const Cupti& cupti) noexcept;
    // The buffer that came back first: take(bytes, valid), then it is free again. False when there is none.
    template <class Take>
    bool take_earliest(Take&& take) noexcept {
        Slot* slot = earliest_returned();
        if (slot == nullptr) return false;
        if (slot->valid > 0) take(slot->bytes.load(std::memory_order_relaxed), slot->valid);
        free(*slot);
        return true;
    }
    // In a child of fork(): what the parent's CUPTI has is the parent's.
    void forget() noexcept;
    // Buffers that CUPTI still has; with those that came back and were not taken.
    std::uint64_t given() const noexcept;
    std::uint64_t outstanding() const noexcept;
    // Buffers that came back and were not ours.
    std::uint64_t unknown() const noexcept { return unknown_.load(std::memory_order_relaxed); }
    // Records for which there was no room.
    std::uint64_t discarded() const noexcept { return discarded_.load(std::memory_order_relaxed); }

private:
    enum State : std::uint32_t { kFree, kGiven, kReturned };
    struct Slot {
        std::atomic<std::uint32_t> state{kFree};
        std::uint64_t turn = 0;  // the order of return
        std::size_t valid = 0;
        std::atomic<std::uint8_t*> bytes{nullptr};
    };
    // Buffers for versions that must be given one.
    struct alignas(64) Spare {
        static constexpr std::size_t kSize = std::size_t{64} << 10;
        std::atomic<std::uint32_t> state{kFree};
        alignas(8) std::uint8_t bytes[kSize] = {};
    };
    static constexpr std::size_t kSpares = 64;
    static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) noexcept;
    static void complete(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                         std::size_t valid) noexcept;
    static bool mapped(Slot& slot) noexcept;
    static void request_spare(std::uint8_t** buffer, std::size_t* size) noexcept;
    static bool complete_spare(std::uint8_t* buffer, std::size_t valid) noexcept;
    Slot* earliest_returned() noexcept;
    static void free(Slot& slot) noexcept;

    Slot slots_[kMost];
    Spare spares_[kSpares];
    std::atomic<std::uint64_t> turns_{0}, unknown_{0}, discarded_{0};
    bool needs_buffer_ = false;  // CUPTI crashes when it gets none
    const Cupti* cupti_ = nullptr;
};

Buffers& buffers() noexcept;

}  // namespace gpuprof::inject
