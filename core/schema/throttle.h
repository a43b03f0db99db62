// Meaning of the bits of throttle.reasons. Source: the NVML reference, "NvmlClocksEventReasons" (nvml.h).
#pragma once

#include <cstdint>

namespace gpuprof::inline schema {

// Reasons that lower clocks against the interest of the workload. Idle, application clocks, sync boost and display
// settings are somebody's choice and do not count.
struct Throttle {
    bool power = false, thermal = false, hardware = false;
};

constexpr Throttle throttle_of(std::uint64_t reasons) {
    constexpr std::uint64_t kSoftwarePowerCap = 0x4, kHardwareSlowdown = 0x8, kSoftwareThermal = 0x20,
                            kHardwareThermal = 0x40, kHardwarePowerBrake = 0x80;
    return {
        .power = (reasons & kSoftwarePowerCap) != 0,
        .thermal = (reasons & (kSoftwareThermal | kHardwareThermal)) != 0,
        .hardware = (reasons & (kHardwareSlowdown | kHardwarePowerBrake)) != 0,
    };
}

}  // namespace gpuprof::schema
