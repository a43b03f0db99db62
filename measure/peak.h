// Peak rates of a device, for the share that a benchmark reached. Figures come from analyze/knowledge (one line
// per GPU with its source); for other GPUs the bandwidth follows from the driver's figures about its memory. Unknown
// values are absent, with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/knowledge/math_type.h"
#include "core/base/result.h"

namespace gpuprof::measure {

// The driver's figures for a device.
struct Hardware {
    std::string name = {};
    std::optional<int> cc_major = {}, cc_minor = {}, num_sms = {};
    std::optional<int> memory_clock_khz = {}, memory_bus_bits = {};
    std::optional<std::uint64_t> memory_bytes = {};
};

struct Peak {
    std::optional<double> bytes_per_s;        // of device memory, reads and writes together
    std::optional<double> flop_per_s;         // for the requested number format
    std::string source;                       // where the figures come from; "" if there are none
    std::string no_bandwidth, no_arithmetic;  // why one of them is absent
};

// By the names of MathType, and "fp64_tensor"; fp16, bf16, tf32, fp8, fp4 and int8 mean tensor cores, fp32 and fp64 do
// not.
Result<MathPath> find_math_path(std::string_view name);

Peak peak_of(const Hardware& hardware, MathPath path);

}  // namespace gpuprof::measure
