// The host object of the fake libcupti, of PM sampling and of the range profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collect/pm/pm_abi.h"

namespace gpuprof::pm {

struct HostObject {
    bool spoiled = false, of_ranges = false;
    std::size_t passes = 0;
    std::vector<std::string> names;
};

}  // namespace gpuprof::pm

namespace fake_cupti {

// What a range's image holds as the value of the metric at a place; CUPTI's code.
int evaluate_range(const gpuprof::pm::HostEvaluate& parameters);

// An image of which counters are available: filled with 7, which cuptiProfilerHostInitialize checks.
inline constexpr std::size_t kAvailabilityBytes = 96;
int tell_availability(auto& parameters) {
    if (parameters.image == nullptr) {
        parameters.bytes = kAvailabilityBytes;
        return gpuprof::pm::kSuccess;
    }
    if (parameters.bytes < kAvailabilityBytes) return gpuprof::pm::kInvalidParameter;
    std::memset(parameters.image, 7, kAvailabilityBytes);
    return gpuprof::pm::kSuccess;
}

}  // namespace fake_cupti
