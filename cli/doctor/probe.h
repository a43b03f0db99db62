// Checks which parts of the GPU software exist on this machine and what prevents their use. Reads files of /proc, /sys
// and /dev, and loads and closes libraries. Only a sampler in a separate process opens devices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/device_probe.h"

namespace gpuprof::inline cli {

enum class Health { ok, limited, missing };

// "ok", "limited", "missing".
std::string_view name_of(Health health);

struct Check {
    std::string name;
    Health health = Health::missing;
    std::string found;   // what was found, or what is missing
    std::string remedy;  // what to do; empty if nothing needs to be done
};

// Every check of this machine; later checks depend on earlier ones.
std::vector<Check> check_machine();

// The requirements of CUDA recording: kernel driver, driver library, CUPTI. Opens no device.
std::vector<Check> check_for_recording();

// Where the checks look, so that a test can substitute another machine. Every path begins with `root`.
struct Machine {
    std::string root;                                          // "" is this machine
    std::function<std::string(const char* name)> environment;  // "" if unset
    // Tries sampling with a backend; not tried if empty.
    std::function<SampledMachine(const std::string& backend)> sample = {};
    // The version of a libcupti, 0 if unknown; not asked if empty. And the newest CUDA version that the driver supports.
    std::function<std::uint32_t(const std::string& path)> cupti_version = {};
    std::function<int()> cuda_version = {};
};
std::vector<Check> check_machine(const Machine& machine);

}  // namespace gpuprof::cli
