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
    IntervalSet comm;     // collective kernels
    IntervalSet compute;  // all other kernels
    std::size_t kernels = 0, memcpys = 0, memsets = 0, streams = 0;
    // Kernels, collectives included.
    const IntervalSet& kernel() const { return comm.empty() ? compute : comm_or_compute; }
    IntervalSet comm_or_compute;  // empty without collectives, so that millions of kernels are stored once
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
