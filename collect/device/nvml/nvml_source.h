// The implementation of open_nvml() (collect/device/device_source.h), with waiting times that tests can set.
#pragma once

#include "collect/device/device_source.h"

namespace gpuprof::inline device::nvml {

struct RetryDelays {
    DurNs query_first = 100'000'000, query_max = 10'000'000'000;      // a failed metric
    DurNs device_first = 500'000'000, device_max = 30'000'000'000;    // a lost device
    DurNs library_first = 500'000'000, library_max = 30'000'000'000;  // a library that lost its driver
};

Result<std::unique_ptr<DeviceSource>> open(const SourceRequest& request, const RetryDelays& delays);

}  // namespace gpuprof::device::nvml
