// Attention as separate kernels: scores in memory between two products.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/host/code_places.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/kernels/unfused_attention.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// "softmax over [16, 12, 1024, 1024]", from the operator that launched the longest softmax.
std::string shape_line(const Facts& facts, Row softmax) {
    const OpRates& rates = facts.get<OpRates>();
    if (rates.rate_of_kernel.empty() || rates.rate_of_kernel[softmax] == kNoRow) return "";
    const OpRate& rate = rates.rates[rates.rate_of_kernel[softmax]];
    return fmt::format("{} over {}", facts.trace().text(rate.name), facts.trace().text(rate.dims));
}

std::string remedy_for_unfused_attention(const Facts& facts) {
    const Context& context = facts.get<Context>();
    if (facts.trace().strings().find("aten::_scaled_dot_product_attention_math") != kNoString)
        return "scaled_dot_product_attention runs its unfused backend here: use bf16 or fp16, a mask that a fused "
               "backend "
               "accepts (is_causal instead of a tensor, or a float mask without gradient), and the same head size for "
               "query, key "
               "and value; torch.nn.attention.sdpa_kernel(...) says why a backend refuses.";
    if (context.pytorch())
        return "Replace product, softmax and product by torch.nn.functional.scaled_dot_product_attention (in "
               "transformers: "
               "attn_implementation=\"sdpa\"), which keeps the scores on the chip.";
    if (context.framework == Framework::jax)
        return "Replace product, softmax and product by jax.nn.dot_product_attention(..., implementation=\"cudnn\"), "
               "which "
               "keeps the scores on the chip.";
    return "Replace product, softmax and product by one fused attention kernel (cuDNN, FlashAttention), which keeps "
           "the "
           "scores on the chip.";
}

Ruling look_for_unfused_attention(const Facts& facts) {
    const UnfusedAttention& attention = facts.get<UnfusedAttention>();
    if (attention.count < 2) return Ruling::abstain(names_are_uninformative(facts));
    const Shares& shares = facts.get<Shares>();
    KernelPart part = [&](const KernelGroup& group) { return attention_passes(facts, group); };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinPatternPct) return Ruling::silent();
    finding.title =
        fmt::format("Attention is not fused: passes over its scores take {}", share_text(facts, finding.cost_ns));
    if (const Gain& gain = gain_without(facts, Waste::unfused_attention); gain.predicted) {
        finding.title = fmt::format("Attention is not fused, which costs {} % of a step", readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    finding.evidence.push_back(fmt::format(
        "{} softmaxes between two matrix products, which take another {}; a fused kernel keeps the scores on the chip",
        spoken_count(attention.count), readable_duration(attention.products)));
    if (std::string shape = shape_line(facts, attention.longest); !shape.empty()) finding.evidence.push_back(shape);
    finding.place = facts.get<CodePlaces>().of_kernel(facts, attention.longest);
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_unfused_attention(facts);
    finding.confidence = Rating::high;
    finding.basis = Basis::names;
    finding.would_change_if = "the softmax between the products is not that of attention";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kUnfusedAttention{
    "unfused-attention", "Attention as separate kernels, whose scores pass through memory between two matrix products.",
    look_for_unfused_attention, Effort::edit};

}  // namespace gpuprof::rules
