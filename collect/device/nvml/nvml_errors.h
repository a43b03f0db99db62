// The consequence of an NVML return code: a reaction, and a sentence with the remedy.
#pragma once

#include <string>
#include <string_view>

#include "collect/device/nvml/nvml_abi.h"

namespace gpuprof::inline device::nvml {

// Our own code, outside NVML's range: the function hung or crashed before and is avoided.
inline constexpr Return kAvoided = 0xFFFF0001u;

enum class Reaction {
    none,    // success
    absent,  // will not work here: drop it
    retry,   // may work later
    renew,   // the library lost its driver, or never had it: shut down and restart
    lost,    // this device is gone; others may continue
};
Reaction reaction_to(Return code);

// What happened and what to do, written to follow a colon: no capital, no full stop.
std::string explain(Return code);

// For code 18: the versions of the kernel module and of the library, if /proc/driver/nvidia/version and the
// library's path reveal them.
std::string explain_mismatch(std::string_view proc_version, std::string_view library_path);

// explain(code), with this machine's versions for code 18.
std::string explain(Return code, std::string_view library_path);

}  // namespace gpuprof::device::nvml
