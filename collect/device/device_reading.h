// The results of a source: readings of devices, use of devices by processes, and faults in words. Plain values that
// travel from the sampler process to its creator (collect/device/sampler_wire.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/reading.h"

namespace gpuprof::inline device {

// What is known about a device before the first sample. `device` is the number that users see and tables contain: the
// position among the devices visible to the target (CUDA_VISIBLE_DEVICES), in CUDA's order.
struct SampledDevice {
    std::int32_t device = 0;
    std::int32_t nvml_index = -1;  // number in nvidia-smi; for a MIG instance, that of its GPU
    std::string name, uuid, pci_bus_id;
    bool mig = false;
    std::optional<double> power_limit_w, sm_clock_max_mhz, mem_clock_max_mhz;
};

// What one process uses of one device.
struct ProcessReading {
    TimeNs time = 0;
    std::int32_t device = 0;
    std::int64_t pid = 0;  // id in this machine's /proc, or the host's id if that is unknown
    std::optional<double> mem_used_mb, util_gpu;
    std::int64_t driver_pid = 0;  // as the driver gave it
};

// A failed reading, as a sentence for people: what, why, and what to do.
struct Fault {
    TimeNs time = 0;
    std::int32_t device = -1;  // -1: not one device
    MetricSet metrics;         // absent from now on; empty if the whole source failed
    bool lost = false;         // the device or the driver is gone: there is a gap until it responds again
    std::string sentence;
};

// One turn of a source. Vectors keep their memory between turns.
struct PollResult {
    std::vector<Reading> readings;
    std::vector<Reading> energy;  // readings of the energy counter alone, between turns; without other metrics
    std::vector<ProcessReading> processes;
    std::vector<Fault> faults;

    void clear() {
        readings.clear();
        energy.clear();
        processes.clear();
        faults.clear();
    }
};

}  // namespace gpuprof::device
