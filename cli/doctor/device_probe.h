// What sampling would provide on this machine: starts a sampler, listens for a moment, and ends it. The sampler is a
// separate process, so that a driver that hangs or crashes only produces a message here.
#pragma once

#include <string>
#include <vector>

#include "collect/device/device_reading.h"

namespace gpuprof::inline cli {

struct SampledMachine {
    std::string refusal;  // why no device can be sampled; "" if one can
    std::vector<SampledDevice> devices;
    MetricSet present;                   // metrics that at least one device provides
    std::vector<std::string> sentences;  // what is missing, and why
};

// `backend`: a value of --backend. Takes half a second with a device, and several seconds if the driver hangs.
SampledMachine sample_machine(const std::string& backend);

}  // namespace gpuprof::cli
