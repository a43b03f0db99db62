// How a row of memory_event says that it comes from a CUDA call (cudaMalloc, cudaMallocManaged, ...) instead of a
// framework's allocator: its category is the kind of memory. A framework takes its segments from CUDA and divides them
// into blocks, so adding both levels up would count memory twice.
#pragma once

#include <string_view>

#include "core/model/managed_memory.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

inline constexpr std::string_view kDeviceMemory = "device";

inline bool is_cuda_call(const Trace& trace, Row event) {
    // Managed memory is on the device only as far as it was moved there.
    std::string_view category = trace.text(trace.tables().memory_event.category.value_or(event, kNoString));
    return category == kDeviceMemory || category == kManagedMemory;
}

}  // namespace gpuprof::model
