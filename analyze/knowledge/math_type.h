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

// The arithmetic of a GEMM, convolution or attention kernel, from its name.
//
// Name formats by library:
//   sm80_xmma_gemm_f32f32_tf32f32_f32_...     {A}{B}_{multiply}{accumulate}_{C}; "ffma" says CUDA cores
//   cutlass_80_tensorop_s1688gemm_...         {accumulator letter}{mnk of the mma}; then type, else TF32 (since 8.0)
//   ampere_sgemm_..., volta_s884gemm_fp16_... letter alone: CUDA cores; letter and mma shape: tensor cores
//   nvjet_sm90_tst_..., nvjet_qqtst_...       cuBLASLt: types of A (B) compute C; t bf16, h fp16, q FP8; others unknown
//   Cijk_..._HHS_..._MI16x16x16               Tensile (AMD): types, then the MFMA shape
// Otherwise C++ template arguments decide (cutlass::bfloat16_t). Unit and type are unknown if the name does not contain
// them.
[[nodiscard]] MathPath math_path(std::string_view kernel_name) noexcept;

}  // namespace gpuprof::knowledge
