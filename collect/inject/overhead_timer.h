// The cost of recording: time of the program's threads inside this library. Rare work is always timed; of annotations
// one in sixteen is timed and counts sixteen times, because reading the clock twice would double their cost.
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

}  // namespace gpuprof::inject
