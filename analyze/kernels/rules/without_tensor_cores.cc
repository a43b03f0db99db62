// A matrix product on the FP32 or FP64 pipes, where tensor cores would be several times as fast.
#include <fmt/format.h>

#include "analyze/kernels/kernel_rule_list.h"

namespace gpuprof::inline kernels {
namespace {

using enum KernelMetric;

constexpr double kMaxTensorPct = 1;  // percent
constexpr double kBusyPipePct = 10;  // percent

KernelRuling look_for_without_tensor_cores(const KernelProfile& profile) {
    bool named = profile.name.find("gemm") != std::string_view::npos || is_matrix_product(profile.traits);
    if (!named) return KernelRuling::silent();
    std::optional<double> tensor = profile[part_tensor_pipe], fp32 = profile[part_fma_pipe],
                          fp64 = profile[part_fp64_pipe];
    if (!tensor || (!fp32 && !fp64))
        return KernelRuling::abstain("activity of the tensor, FP32 and FP64 pipes was not collected");
    bool is_fp64 = fp64.value_or(0) > fp32.value_or(0);
    double busy = is_fp64 ? *fp64 : *fp32;
    if (*tensor >= kMaxTensorPct || busy < kBusyPipePct) return KernelRuling::silent();
    KernelFinding finding;
    finding.title =
        fmt::format("The matrix product runs on the {} pipes, not on tensor cores", is_fp64 ? "FP64" : "FP32");
    finding.evidence.push_back(
        fmt::format("tensor pipes are busy {:.0f} %, {} pipes {:.0f} %", *tensor, is_fp64 ? "FP64" : "FP32", busy));
    finding.remedy =
        is_fp64 ? "Call cuBLAS, which uses the FP64 tensor cores of data-centre GPUs, or compute in FP32 or TF32 "
                  "where the accuracy allows it."
                : "Allow TF32 (torch.backends.cuda.matmul.allow_tf32, jax_default_matmul_precision) or use BF16 "
                  "or FP16 with FP32 accumulation; in own kernels, use the tensor cores by a library or wmma.";
    finding.confidence = is_matrix_product(profile.traits) ? Rating::high : Rating::medium;
    finding.would_change_if = "the result needs the full accuracy of the format";
    return KernelRuling::fires(std::move(finding));
}

}  // namespace

const KernelRule kWithoutTensorCoresKernel{"without-tensor-cores", "A matrix product on the FP32 or FP64 pipes.",
                                           "activity of the pipes", look_for_without_tensor_cores};

}  // namespace gpuprof::kernels
