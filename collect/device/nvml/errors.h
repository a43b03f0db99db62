// What a return code of NVML means here: how to go on, and a sentence with the remedy.
#pragma once

#include <string>
#include <string_view>

#include "collect/device/nvml/abi.h"

namespace gpuprof::nvml {

// Of our own, outside NVML's range: the function is on the list of those that hung or crashed before.
inline constexpr Return kAvoided = 0xFFFF0001u;

enum class Reaction {
    none,    // it worked
    absent,  // it will not work here: leave it out from now on
    retry,   // it may work later
    renew,   // the library lost its driver, or never had it: shut down and start again
    lost,    // this device is gone; others may go on
};
Reaction reaction_to(Return code);

// What happened and what to do, to follow a colon: no capital, no full stop.
std::string explain(Return code);

// For code 18: the versions of the kernel module and of the library, as far as the text of /proc/driver/nvidia/version and
// the library's path tell them.
std::string explain_mismatch(std::string_view proc_version, std::string_view library_path);

// explain(code), with the versions read from this machine for code 18.
std::string explain(Return code, std::string_view library_path);

}  // namespace gpuprof::nvml
