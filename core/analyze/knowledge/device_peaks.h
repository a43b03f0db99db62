// What a GPU can do at most: dense arithmetic rate per number format, and memory bandwidth.
//
// The roof that achieved rates are held against. A peak is a figure of the vendor at boost clock: a real kernel meets power limits first,
// so 60 to 90 % of it is already good. Compute peaks are derived, SMs x clock x operations per SM and clock (the arithmetic-throughput
// table of the CUDA C++ Programming Guide and the architecture whitepapers); device_peaks.def keeps the vendor's own figure of every GPU
// and a test holds the derivation to it within 3 %. What is not known is absent, never 0: a device outside the list has no bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/analyze/knowledge/math_type.h"

namespace gpuprof {

// What a trace says of the device. Only the name is usual in all of them.
struct DeviceQuery {
    std::string_view name = {};
    int cc_major = 0;
    int cc_minor = 0;
    std::optional<int> num_sms = {};
    std::optional<std::uint64_t> total_memory_bytes = {};
    std::optional<double> boost_mhz =
        {};  // the trace's own maximum SM clock, used when the list does not have the device
    std::optional<double> memory_gb_per_s = {};  // the trace's own theoretical bandwidth; overrides the list
    std::optional<int> warp_size = {};
};

// How much a peak can be trusted.
enum class PeakBasis : std::uint8_t {
    known_device,  // name, SM count and memory are those of the list
    known_device_scaled,  // name known, SM count or memory differ (MIG slice, cut-down part): compute scaled to the SMs present
    capability_only,  // name unknown: the generation's rates at the trace's clock or a typical one; an upper bound, off by up to 2x
};

struct DevicePeaks {
    PeakBasis basis = PeakBasis::capability_only;
    std::string_view device;  // the list's name for it; empty for capability_only
    std::string_view source;  // the document the figures come from
    int num_sms = 0;
    double boost_mhz = 0;
    // Dense TFLOP/s (int8: TOP/s). fp64 and fp32 on the SIMT cores, the others on tensor cores with fp32 accumulation.
    std::optional<double> fp64 = {};
    std::optional<double> fp64_tensor = {};
    std::optional<double> fp32 = {};
    std::optional<double> tf32 = {};
    std::optional<double> fp16 = {};
    std::optional<double> bf16 = {};
    std::optional<double> fp8 = {};
    std::optional<double> fp4 = {};
    std::optional<double> int8 = {};
    std::optional<double> memory_gb_per_s = {};  // 1e9 bytes a second, read and write together

    // The peak of one way of computing; absent for an unknown unit or format, and for pairs the device does not have.
    [[nodiscard]] std::optional<double> tflops(MathPath path) const noexcept;
    // FLOP per byte above which the device computes slower than it loads; absent without a bandwidth.
    [[nodiscard]] std::optional<double> ridge_flop_per_byte(MathPath path) const noexcept;
};

// Absent when neither the name nor the capability with an SM count is known.
[[nodiscard]] std::optional<DevicePeaks> find_peaks(const DeviceQuery& query) noexcept;

// "known device", "known device, scaled", "capability only".
[[nodiscard]] std::string_view to_string(PeakBasis basis) noexcept;

}  // namespace gpuprof
