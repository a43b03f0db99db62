// Convolutions that dominate and could run by a faster algorithm, layout or precision.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinSlowConvolutionPct = 10;  // percent of the effective window

DurNs convolving(const KernelGroup& group) {
    return group.traits.kind == KernelClass::convolution ? group.total_ns : 0;
}

// Part of a group with a faster known alternative: another algorithm, or a lower precision.
DurNs improvable(const KernelGroup& group, const Context& context) {
    if (group.traits.kind != KernelClass::convolution) return 0;
    bool full = group.traits.math.unit == MathUnit::simt && context.tensor_cores;
    bool tf32 = group.traits.math.type == MathType::tf32;
    bool algorithm = group.traits.conv == ConvAlgorithm::explicit_gemm || group.traits.conv == ConvAlgorithm::direct;
    return full || tf32 || algorithm ? group.total_ns : 0;
}

std::string remedy_for_slow_convolution(const Context& context, const Practices& practices) {
    std::string precision;
    if (context.tensor_cores) precision = "mixed precision in fp16 (this GPU has no bf16 or TF32)";
    if (context.bf16) precision = "mixed precision in bf16 or fp16";
    if (context.pytorch())
        return fmt::format(
            "{}Set torch.backends.cudnn.benchmark=True to let cuDNN choose the fastest algorithm for these shapes{}.",
            precision.empty()
                ? ""
                : fmt::format("Use {} (autocast){}. ", precision, practices.channels_last ? "" : " and channels_last"),
            context.tf32 ? ", and torch.backends.cudnn.allow_tf32=True for convolutions that stay in FP32" : "");
    return fmt::format(
        "{}Let cuDNN find the fastest algorithm for these shapes (cudnnFind..., or the framework's autotuning).",
        precision.empty()
            ? ""
            : fmt::format("Use {}{}. ", precision, practices.channels_last ? "" : " and the NHWC layout"));
}

Ruling look_for_slow_convolution(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const Context& context = facts.get<Context>();
    DurNs all = busy_with(facts, convolving);
    if (shares.effective_pct(all) < kMinSlowConvolutionPct) return Ruling::abstain(names_are_uninformative(facts));
    KernelPart part = [&](const KernelGroup& group) { return improvable(group, context); };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (2 * finding.cost_ns < all) return Ruling::silent();
    finding.title = fmt::format("Convolutions in FP32 or TF32, or with a slow algorithm, take {}",
                                share_text(facts, finding.cost_ns));
    if (const Gain& gain = gain_without(facts, Waste::full_precision); gain.predicted) {
        finding.title = fmt::format(
            "Convolutions in FP32 or TF32, or with a slow algorithm, cost {} % of a step more than in 16 bits",
            readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_slow_convolution(context, facts.get<Practices>());
    finding.confidence = Rating::medium;
    finding.basis = Basis::names;
    finding.would_change_if = "accuracy forbids lower precision";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kSlowConvolution{"slow-convolution",
                            "Convolutions that dominate and could run by a faster algorithm, layout or precision.",
                            look_for_slow_convolution, Effort::edit};

}  // namespace gpuprof::rules
