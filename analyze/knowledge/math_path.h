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
#pragma once

#include <string_view>

#include "analyze/knowledge/math_type.h"

namespace gpuprof::inline knowledge {

[[nodiscard]] MathPath math_path(std::string_view kernel_name) noexcept;

}  // namespace gpuprof::knowledge
