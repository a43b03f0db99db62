// Matrix products on CUDA cores of a device with tensor cores.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

DurNs on_cuda_cores(const KernelGroup& group) {
    return is_fp32_product_on_cuda_cores(group.traits) ? group.total_ns : 0;
}

// The switch of PyTorch for products is not that for convolutions, and before Ampere there is neither TF32 nor bf16.
std::string remedy_for_no_tensor_cores(const Facts& facts) {
    const Context& context = facts.get<Context>();
    DurNs convolutions = 0, all = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        all += on_cuda_cores(group);
        if (group.traits.kind == KernelClass::convolution) convolutions += on_cuda_cores(group);
    }
    bool conv = 2 * convolutions > all;
    if (!context.tf32)
        return context.pytorch() ? "Use tensor cores: autocast to fp16 with a GradScaler (this GPU has no TF32 or "
                                   "bf16), with shapes in multiples of 8."
                                 : "Use tensor cores: fp16 inputs with FP32 accumulation (this GPU has no TF32 or "
                                   "bf16), with shapes in multiples of 8.";
    if (context.pytorch())
        return fmt::format(
            "Use tensor cores: set {} (TF32), or autocast to bf16 or fp16, with shapes in multiples of 8 (16 bytes).",
            conv ? "torch.backends.cudnn.allow_tf32=True" : "torch.set_float32_matmul_precision('high')");
    if (context.framework == Framework::jax)
        return "Use tensor cores: set jax_default_matmul_precision='tensorfloat32', or use bf16 parameters and "
               "activations.";
    return conv ? "Use tensor cores: set CUDNN_TENSOR_OP_MATH or use fp16 or bf16 tensors, with channels in multiples "
                  "of 8."
                : "Use tensor cores: set CUBLAS_COMPUTE_32F_FAST_TF32, or use fp16 or bf16 inputs with FP32 "
                  "accumulation, with shapes in multiples of 8.";
}

Ruling look_for_no_tensor_cores(const Facts& facts) {
    const Context& context = facts.get<Context>();
    const Shares& shares = facts.get<Shares>();
    Finding finding;
    finding.cost_ns = busy_with(facts, on_cuda_cores);
    if (shares.effective_pct(finding.cost_ns) < kMinFindingPct) return Ruling::silent();
    if (context.capability == 0 && !context.amd)
        return Ruling::abstain("the recording does not say whether the GPU has tensor cores (no compute capability)");
    if (!context.tensor_cores) return Ruling::silent();
    finding.title =
        fmt::format("FP32 matrix products without tensor cores take {}", share_text(facts, finding.cost_ns));
    if (const Gain& gain = gain_without(facts, context.tf32 ? Waste::cuda_core_products : Waste::full_precision);
        gain.predicted) {
        finding.title = fmt::format("FP32 matrix products cost {} % of a step more than on tensor cores",
                                    readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    push_kernel_lines(facts, on_cuda_cores, finding);
    bool half = facts.get<Practices>().half_products;
    if (half)
        finding.evidence.push_back(
            "most other products are in 16 bits already: these are outside autocast, or their inputs are FP32");
    finding.remedy =
        half && context.pytorch()
            ? "Bring these products to the type of the others: run them inside the autocast region, cast their "
              "inputs, and look for autocast(enabled=False) and .float() around them."
            : remedy_for_no_tensor_cores(facts);
    finding.confidence = Rating::high;
    finding.basis = Basis::names;
    finding.would_change_if = "the result needs full FP32 precision";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kNoTensorCores{"no-tensor-cores", "Matrix products on the CUDA cores of a GPU that has tensor cores.",
                          look_for_no_tensor_cores, Effort::option};

}  // namespace gpuprof::rules
