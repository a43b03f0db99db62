#include "measure/peak.h"

#include <fmt/format.h>

#include "analyze/knowledge/device_peaks.h"
#include "core/base/text/close_match.h"

namespace gpuprof::measure {
namespace {

struct NamedPath {
    std::string_view name;
    MathPath path;
};

constexpr NamedPath kPaths[] = {
    {"fp64", {MathUnit::simt, MathType::fp64}},   {"fp64_tensor", {MathUnit::tensor, MathType::fp64}},
    {"fp32", {MathUnit::simt, MathType::fp32}},   {"tf32", {MathUnit::tensor, MathType::tf32}},
    {"fp16", {MathUnit::tensor, MathType::fp16}}, {"bf16", {MathUnit::tensor, MathType::bf16}},
    {"fp8", {MathUnit::tensor, MathType::fp8}},   {"fp4", {MathUnit::tensor, MathType::fp4}},
    {"int8", {MathUnit::tensor, MathType::int8}},
};

// Two transfers per clock, as the attribute counts clocks; the formula of nvbench and of CUDA's samples.
std::optional<double> bandwidth_by_driver(const Hardware& hardware) {
    if (hardware.memory_clock_khz.value_or(0) <= 0 || hardware.memory_bus_bits.value_or(0) <= 0) return std::nullopt;
    return 2.0 * *hardware.memory_clock_khz * 1e3 * *hardware.memory_bus_bits / 8;
}

}  // namespace

Result<MathPath> find_math_path(std::string_view name) {
    std::vector<std::string_view> names;
    for (const NamedPath& each : kPaths) {
        if (each.name == name) return each.path;
        names.push_back(each.name);
    }
    return unknown_choice("number format", name, names);
}

Peak peak_of(const Hardware& hardware, MathPath path) {
    const std::optional<DevicePeaks> known = find_peaks({.name = hardware.name,
                                                         .cc_major = hardware.cc_major.value_or(0),
                                                         .cc_minor = hardware.cc_minor.value_or(0),
                                                         .num_sms = hardware.num_sms,
                                                         .total_memory_bytes = hardware.memory_bytes});
    Peak peak;
    if (known && known->memory_gb_per_s) peak.bytes_per_s = *known->memory_gb_per_s * 1e9;
    if (known && (peak.bytes_per_s || path.unit != MathUnit::unknown))
        peak.source = fmt::format("{} ({})", known->source, to_string(known->basis));
    // A partition of a listed device has a part of its bandwidth, which the driver's figures do not reveal.
    const bool is_part = known && known->basis == PeakBasis::known_device_scaled;
    if (!peak.bytes_per_s && !is_part) {
        peak.bytes_per_s = bandwidth_by_driver(hardware);
        if (peak.bytes_per_s)
            peak.source +=
                std::string(peak.source.empty() ? "" : "; ") + "bandwidth from the driver's memory clock and bus width";
    }
    if (!peak.bytes_per_s)
        peak.no_bandwidth =
            is_part ? fmt::format("{} is a partition of a device, and its bandwidth is unknown", hardware.name)
                    : fmt::format("the bandwidth of {} is unknown", hardware.name);
    if (path.unit == MathUnit::unknown) return peak;
    if (known)
        if (std::optional<double> tflops = known->tflops(path)) peak.flop_per_s = *tflops * 1e12;
    if (!peak.flop_per_s)
        peak.no_arithmetic =
            fmt::format("the arithmetic peak of {} for {} is unknown", hardware.name, to_string(path.type));
    return peak;
}

}  // namespace gpuprof::measure
