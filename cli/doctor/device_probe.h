// What sampling would give on this machine: a sampler is started, listened to for a moment and ended. It runs in a process of
// its own, so that a driver that hangs or crashes is a sentence here.
#pragma once

#include <string>
#include <vector>

#include "collect/device/reading.h"

namespace gpuprof {

struct SampledMachine {
    std::string refusal;  // why nothing can be sampled; "" when something can
    std::vector<SampledDevice> devices;
    MetricSet present;                   // read on at least one device
    std::vector<std::string> sentences;  // what is absent and why
};

// `backend` as --backend has it. Takes half a second where there is a device, some seconds where the driver hangs.
SampledMachine sample_machine(const std::string& backend);

}  // namespace gpuprof
