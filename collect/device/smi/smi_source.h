// The implementation of open_smi() (collect/device/device_source.h), with waiting times that tests can set.
#pragma once

#include "collect/device/device_source.h"

namespace gpuprof::inline device::nvidia_smi {

struct Timeouts {
    DurNs start = 10'000'000'000;         // for the first rows
    DurNs silence = 5'000'000'000;        // without rows it counts as hung; at least ten intervals
    DurNs restart_first = 1'000'000'000;  // before restarting it
    DurNs restart_max = 30'000'000'000;
    int restarts = 8;  // consecutive restarts without a reading before giving up
};

Result<std::unique_ptr<DeviceSource>> open(const SourceRequest& request, const Timeouts& timeouts);

}  // namespace gpuprof::device::nvidia_smi
