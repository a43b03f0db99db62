// Where the window of every device went, in ns that add up: idle time by cause and busy time by limiter. Verdicts are
// based on these. Sums over devices: `window` is the trace's window times the number of devices with work.
#pragma once

#include <array>
#include <vector>

#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/kernels/kernel_bound.h"

namespace gpuprof::inline facts {

struct Shares {
    std::size_t devices = 0;
    DurNs window = 0;     // window of the trace x devices
    DurNs effective = 0;  // window without idle time during the recorder's own work
    DurNs busy = 0;
    std::array<DurNs, kIdleCauses> idle{};
    DurNs exposed_memcpy = 0;         // copies between host and device, or between devices, while no kernel runs
    DurNs exposed_device_copies = 0;  // copies within the device: memory traffic, not a transfer
    DurNs exposed_comm = 0;
    // Kernel busy time (unions) without exposed_comm, split in proportion to kernel durations.
    std::array<DurNs, kBounds> kernel{};
    double overlap = 0;  // kernel busy time per ns of summed durations, without collectives; below 1 if kernels overlap
    DurNs unfilled = 0;  // part of kernel busy time: share of SMs without a block x duration
    DurNs host_idle_doubtful = 0;  // part of idle launch + host compute that the recorder may have caused

    DurNs idle_of(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }
    DurNs kernel_of(Bound bound) const { return kernel[static_cast<std::size_t>(bound)]; }
    // Percentage of the window, for reports.
    double pct(DurNs part) const {
        return window > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(window) : 0;
    }
    // Percentage of the effective window, for decisions: excludes the recorder's own work.
    double effective_pct(DurNs part) const {
        return effective > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(effective) : 0;
    }
    static Shares make(const Facts& facts);
};

}  // namespace gpuprof::facts
