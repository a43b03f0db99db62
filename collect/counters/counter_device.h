// The GPU of this process for a plan: its chip, which counters are available to this user, and what the driver says of
// it. Needs the driver, and a context; only in the process of host_process.h.
#pragma once

#include <cstdint>
#include <string>

#include "collect/counters/metric_plan.h"

namespace gpuprof::counters {

struct Device {
    Chip chip;
    std::string name;
    std::uint32_t cc_major = 0, cc_minor = 0, sms = 0;  // 0: unknown
    std::uint64_t memory_bytes = 0, free_bytes = 0;     // 0: unknown
    int count = 0;                                      // of devices
};

// Of the first device that the driver shows.
Result<Device> find_device(const Api& api);

}  // namespace gpuprof::counters
