// Device activity: for each device with work, the interval sets every time figure is made of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof {

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
    IntervalSet comm_or_compute;  // empty where there are no collectives: millions of kernels are kept once
};

// Whether a kernel of this name is a collective: a library's (nccl..., rccl..., any case of letters), or one of the known
// ones of frameworks (knowledge/collective_name.h).
bool is_collective_kernel(std::string_view name);

// One entry per device that has ops and is asked for (Options::device), by ordinal.
struct Activity {
    std::vector<DeviceActivity> devices;
    static Activity make(const Facts& facts);
};

}  // namespace gpuprof
