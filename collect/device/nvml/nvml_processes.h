// Which processes use a device: memory of compute and graphics processes, and the share of time that each one kept it
// busy. The layout of a process entry differs between drivers under one function name (R530 and early R535 have longer
// entries; see gpustat issue 102 and nvitop).
// The buffer is therefore filled with a pattern first, and the entry length follows from what was overwritten.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/nvml/nvml_api.h"

namespace gpuprof::inline device::nvml {

class Processes {
public:
    // Appends the current use by processes; memory above `total_mb` is dropped. If no call worked, returns the first
    // failed call's code.
    Return read(const Api& api, Device device, std::optional<double> total_mb, TimeNs time, std::int32_t number,
                std::vector<ProcessReading>& to);

private:
    struct Use {
        std::optional<double> mem_used_mb, util_gpu;
    };
    using Uses = std::map<unsigned, Use>;  // by process id

    template <class Listing>
    Return list(const Listing& function, std::size_t entry_bytes, Device device, std::optional<double> total_mb,
                Uses& to);
    Return list_compute(const Api& api, Device device, std::optional<double> total_mb, Uses& to);
    Return list_graphics(const Api& api, Device device, std::optional<double> total_mb, Uses& to);
    Return utilization(const Api& api, Device device, TimeNs time, Uses& to);

    std::int64_t local(unsigned pid);

    std::map<unsigned, std::int64_t> local_;
    unsigned long long since_us_ = 0;  // newest utilisation sample so far
    std::vector<unsigned char> buffer_;
    std::vector<ProcessUtilization> samples_;
};

// NVML reports process ids of the host. Returns the corresponding id in /proc (`proc_root`): the same id, or that of
// the only process whose NSpid line contains it; the same id if neither exists.
std::int64_t local_pid(std::int64_t pid, const std::string& proc_root);

}  // namespace gpuprof::device::nvml
