// What a source found out: readings of devices, use of devices by processes, and faults in words. Plain values that cross
// from the sampler process to the one that asked (collect/device/wire.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/reading.h"

namespace gpuprof {

// What is known of a device before the first sample. `device` is the number users say and tables hold: the position among
// the devices the target can see (CUDA_VISIBLE_DEVICES), as CUDA numbers them.
struct SampledDevice {
    std::int32_t device = 0;
    std::int32_t nvml_index = -1;  // as nvidia-smi numbers it; of the parent for a MIG instance
    std::string name, uuid, pci_bus_id;
    bool mig = false;
    std::optional<double> power_limit_w, sm_clock_max_mhz, mem_clock_max_mhz;
};

// What one process uses of one device.
struct ProcessReading {
    TimeNs time = 0;
    std::int32_t device = 0;
    std::int64_t pid = 0;  // as this machine's /proc numbers it, or the host's when that cannot be found out
    std::optional<double> mem_used_mb, util_gpu;
};

// Something that could not be read, in a sentence for people: what, why, and what to do.
struct Fault {
    TimeNs time = 0;
    std::int32_t device = -1;  // -1: not one device
    MetricSet metrics;         // what is absent from now on; empty when the whole source failed
    bool lost = false;         // the device or the driver is gone: there is a gap until it answers again
    std::string sentence;
};

// One turn of a source. Vectors keep their memory from turn to turn.
struct Harvest {
    std::vector<Reading> readings;
    std::vector<Reading> energy;  // of the energy counter alone, between turns: no samples of anything else
    std::vector<ProcessReading> processes;
    std::vector<Fault> faults;

    void clear() {
        readings.clear();
        energy.clear();
        processes.clear();
        faults.clear();
    }
};

}  // namespace gpuprof
