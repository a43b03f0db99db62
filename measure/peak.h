// What the device can do at most, for the share of it that a benchmark reached. Figures are those of core/analyze/knowledge (one
// line per GPU with its source); for a GPU that is not listed there bandwidth follows from what the driver says of its memory.
// Absent is unknown, and the reason is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/analyze/knowledge/math_type.h"
#include "core/base/result.h"

namespace gpuprof::measure {

// What the driver says of a device.
struct Hardware {
    std::string name = {};
    std::optional<int> cc_major = {}, cc_minor = {}, num_sms = {};
    std::optional<int> memory_clock_khz = {}, memory_bus_bits = {};
    std::optional<std::uint64_t> memory_bytes = {};
};

struct Peak {
    std::optional<double> bytes_per_s;        // of device memory, read and write together
    std::optional<double> flop_per_s;         // of the way of computing that was asked for
    std::string source;                       // where the figures come from; "" when there are none
    std::string no_bandwidth, no_arithmetic;  // why one of them is absent
};

// By the names of MathType, and "fp64_tensor"; fp16, bf16, tf32, fp8, fp4 and int8 mean tensor cores, fp32 and fp64 do not.
Result<MathPath> find_math_path(std::string_view name);

Peak peak_of(const Hardware& hardware, MathPath path);

}  // namespace gpuprof::measure
