// The number formats of a GPU's arithmetic, and whether SIMT cores or matrix units execute it.
//
// One vocabulary for device peaks, kernel names and operator inputs, so that an achieved rate is compared with the peak
// of the same arithmetic. `unknown` is a separate value: a name without a format must not be read as fp32.
// fp16_or_bf16 exists because some kernels (cuDNN's generated attention) are named f16 for both; both have the same
// peak on all listed GPUs.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline knowledge {

enum class MathType : std::uint8_t { unknown, fp64, fp32, tf32, fp16, bf16, fp16_or_bf16, fp8, fp4, int8 };

enum class MathUnit : std::uint8_t {
    unknown,
    simt,    // CUDA cores: FMA by each thread
    tensor,  // tensor cores (NVIDIA), matrix cores (AMD MFMA)
};

struct MathPath {
    MathUnit unit = MathUnit::unknown;
    MathType type = MathType::unknown;

    friend bool operator==(const MathPath&, const MathPath&) = default;
};

// Stable lower-case names for tables and findings: "tf32", "fp16_or_bf16", "unknown".
[[nodiscard]] std::string_view to_string(MathType type) noexcept;
[[nodiscard]] std::string_view to_string(MathUnit unit) noexcept;

}  // namespace gpuprof::knowledge
