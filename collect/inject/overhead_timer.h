// The cost of recording: time of the program's threads inside this library. Rare work is always timed; of annotations
// and stream calls one in sixteen is timed and counts sixteen times, because reading the clock twice would double their cost.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"

namespace gpuprof::inject {

inline constinit std::atomic<std::uint64_t> collector_overhead_ns{0};

class OverheadTimer {
public:
    OverheadTimer() noexcept : since_(monotonic_ns()) {}
    ~OverheadTimer() {
        collector_overhead_ns.fetch_add(static_cast<std::uint64_t>(monotonic_ns() - since_), std::memory_order_relaxed);
    }
    OverheadTimer(const OverheadTimer&) = delete;
    OverheadTimer& operator=(const OverheadTimer&) = delete;

private:
    TimeNs since_;
};

// Times one call in sixteen of a thread, by the thread's counter of calls, if the time will be told.
class SampledOverheadTimer {
public:
    explicit SampledOverheadTimer(std::uint32_t& calls, bool wanted = true) noexcept
        : since_(wanted && calls++ % kSamplingRatio == 0 ? monotonic_ns() : 0) {}
    ~SampledOverheadTimer() {
        if (since_ != 0)
            collector_overhead_ns.fetch_add(kSamplingRatio * static_cast<std::uint64_t>(monotonic_ns() - since_),
                                            std::memory_order_relaxed);
    }
    SampledOverheadTimer(const SampledOverheadTimer&) = delete;
    SampledOverheadTimer& operator=(const SampledOverheadTimer&) = delete;

private:
    static constexpr std::uint32_t kSamplingRatio = 16;
    TimeNs since_;
};

}  // namespace gpuprof::inject
