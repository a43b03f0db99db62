// The cost of recording: time of the program's threads inside this library. Rare work is always timed; of annotations
// one in sixteen is timed and counts sixteen times, because reading the clock twice would double their cost.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/clock.h"

namespace gpuprof::inject {

inline constinit std::atomic<std::uint64_t> own_cost_ns{0};

class OwnTime {
public:
    OwnTime() noexcept : since_(monotonic_ns()) {}
    ~OwnTime() {
        own_cost_ns.fetch_add(static_cast<std::uint64_t>(monotonic_ns() - since_), std::memory_order_relaxed);
    }
    OwnTime(const OwnTime&) = delete;
    OwnTime& operator=(const OwnTime&) = delete;

private:
    TimeNs since_;
};

}  // namespace gpuprof::inject
