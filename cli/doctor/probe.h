// Looks at the machine: what of a GPU's software is here, and what stands in the way. Files of /proc, /sys and /dev are
// read, libraries are loaded and closed again; devices are opened by a sampler in a process of its own only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/device_probe.h"

namespace gpuprof {

enum class Health { ok, limited, missing };

// "ok", "limited", "missing".
std::string_view name_of(Health health);

struct Check {
    std::string name;
    Health health = Health::missing;
    std::string found;   // what is there, or what is not
    std::string remedy;  // what to do; empty when nothing
};

// Every check of this machine, in the order in which one depends on the other.
std::vector<Check> check_machine();

// What recording CUDA needs: the kernel driver, the driver library, CUPTI. Opens no device.
std::vector<Check> check_for_recording();

// Where the checks look, so that a test can show them another machine. Every path begins with `root`.
struct Machine {
    std::string root;                                          // "" is this machine
    std::function<std::string(const char* name)> environment;  // "" when not set
    // Tries sampling by a backend; not tried where there is none.
    std::function<SampledMachine(const std::string& backend)> sample = {};
};
std::vector<Check> check_machine(const Machine& machine);

}  // namespace gpuprof
