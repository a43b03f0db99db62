// Where the window of every device went, in ns that add up: idle time by cause and busy time by what limits it. The
// ground on which the verdict stands. Sums over devices: `window` is the trace's window times the devices with work.
#pragma once

#include <array>
#include <vector>

#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/kernel_bound.h"
#include "core/analyze/facts/profiler_cost.h"

namespace gpuprof {

struct Shares {
    std::size_t devices = 0;
    DurNs window = 0;     // window of the trace x devices
    DurNs effective = 0;  // window without idle time during the recorder's own work
    DurNs busy = 0;
    std::array<DurNs, kIdleCauses> idle{};
    DurNs exposed_memcpy = 0;         // copies between host and device, or devices, while no kernel runs
    DurNs exposed_device_copies = 0;  // copies on the device itself: its memory's work, no transfer
    DurNs exposed_comm = 0;
    // Kernel busy time (unions) without exposed_comm, split in proportion to the kernels' durations.
    std::array<DurNs, kBounds> kernel{};
    double overlap =
        0;  // kernel busy time per ns of summed durations, without collectives: below 1 where kernels overlap
    DurNs unfilled = 0;            // part of kernel busy time, as multiprocessors without a block times duration
    DurNs host_idle_doubtful = 0;  // part of idle launch + host compute that the recorder may have made

    DurNs idle_of(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }
    DurNs kernel_of(Bound bound) const { return kernel[static_cast<std::size_t>(bound)]; }
    // Percent of the window, for reports.
    double pct(DurNs part) const {
        return window > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(window) : 0;
    }
    // Percent of the effective window, for decisions: the recorder's own work is nobody's fault.
    double effective_pct(DurNs part) const {
        return effective > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(effective) : 0;
    }
    static Shares make(const Facts& facts);
};

}  // namespace gpuprof
