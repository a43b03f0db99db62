// Which processes use a device: memory of compute and graphics processes, and the share of time each kept it busy.
// The layout of a process entry differs between drivers of one function name (R530 and early R535 have longer ones, gpustat
// issue 102 and nvitop tell of it), so the buffer is filled with a pattern first and the length is read off what was
// overwritten.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collect/device/nvml/api.h"
#include "collect/device/reading.h"

namespace gpuprof::nvml {

class Processes {
public:
    // Appends what processes use now; memory over `total_mb` is left out. The code is of the first call that failed, when
    // no call worked.
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
    unsigned long long since_us_ = 0;  // newest sample of utilisation seen
    std::vector<unsigned char> buffer_;
    std::vector<ProcessUtilization> samples_;
};

// NVML gives process ids of the host. The number that /proc (`proc_root`) has for it: itself, or of the one process whose
// NSpid line has it; itself when neither is known.
std::int64_t local_pid(std::int64_t pid, const std::string& proc_root);

}  // namespace gpuprof::nvml
