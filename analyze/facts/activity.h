// Device activity: the interval sets behind every time figure, for each device with work.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct DeviceActivity {
    std::int32_t device = 0;
    IntervalSet busy;  // union of all device ops
    IntervalSet memcpy;
    IntervalSet memset;
    IntervalSet comm;  // collective kernels
    std::size_t kernels = 0, memcpys = 0, memsets = 0, streams = 0;
    // All other kernels.
    const IntervalSet& compute() const { return only_compute ? busy : own_compute; }
    // Kernels, collectives included.
    const IntervalSet& kernel() const { return comm.empty() ? compute() : comm_or_compute; }
    // Millions of kernels are stored once: without other ops in `busy`, and without collectives in one set only.
    bool only_compute = false;
    IntervalSet own_compute, comm_or_compute;
};

// Whether a kernel of this name is a collective: from a library (nccl..., rccl..., in any case), or a known one from a
// framework (knowledge/collective_name.h).
bool is_collective_kernel(std::string_view name);

// One entry per selected device (Options::device) that has ops, by ordinal.
struct Activity {
    std::vector<DeviceActivity> devices;
    static Activity make(const Facts& facts);
};

}  // namespace gpuprof::facts
