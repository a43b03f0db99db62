// Casts between number formats that take time of their own, above all of weights in every step under autocast.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/knowledge/operators/op_inputs.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Casts with recorded shapes: time to wider and narrower types, and the one that takes longest.
struct KnownCasts {
    DurNs widening = 0, narrowing = 0;
    // "aten::copy_ [[4096, 1024], [4096, 1024], []] ["c10::BFloat16", "float", "Scalar"], 3 times"
    std::string longest;
};

KnownCasts known_casts(const Facts& facts) {
    KnownCasts found;
    const Trace& trace = facts.trace();
    for (const OpRate& rate : facts.get<OpRates>().rates) {
        if (trace.text(rate.name) != "aten::copy_") continue;
        std::optional<OpInputs> inputs = parse_op_inputs(trace.text(rate.dims), trace.text(rate.types), "");
        const OpInput* to = inputs ? inputs->tensor(0) : nullptr;
        const OpInput* from = inputs ? inputs->tensor(1) : nullptr;
        if (to == nullptr || from == nullptr || !to->dtype || !from->dtype || to->dtype->bytes == from->dtype->bytes)
            continue;
        (to->dtype->bytes > from->dtype->bytes ? found.widening : found.narrowing) += rate.device_ns;
        if (found.longest.empty())
            found.longest = fmt::format("{} {} {}, {} times", trace.text(rate.name), trace.text(rate.dims),
                                        trace.text(rate.types), spoken_count(rate.count));
    }
    return found;
}

std::string remedy_for_type_casts(const KnownCasts& known, bool compiled) {
    std::string fuse = compiled ? "" : " torch.compile fuses casts into their neighbours.";
    if (known.widening > known.narrowing)
        return "Let operators read the narrow type instead of casting their inputs first: a loss that takes bf16 "
               "logits (or a "
               "fused linear and cross-entropy kernel), norms and softmax that accumulate in FP32 inside." +
               fuse;
    return "Cast weights once, not in every step: keep the model in bf16 with FP32 copies only in the optimizer, or "
           "open one autocast region around the whole step, whose cache casts each weight once." +
           fuse;
}

Ruling look_for_type_casts(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    KernelPart part = [&](const KernelGroup& group) { return casts_outside_attention(facts, group); };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinPatternPct) return Ruling::abstain(names_are_uninformative(facts));
    finding.title = fmt::format("Casts between number formats take {}", share_text(facts, finding.cost_ns));
    KnownCasts known = known_casts(facts);
    if (!known.longest.empty()) finding.evidence.push_back(known.longest);
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_type_casts(known, facts.get<Practices>().compiled);
    finding.confidence = Rating::medium;
    finding.basis = Basis::names;
    finding.would_change_if = "the casts are part of what is computed, such as a softmax in FP32 that accuracy needs";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kTypeCasts{"type-casts", "Copies that change the number format, such as casts of weights in every step.",
                      look_for_type_casts, Effort::edit};

}  // namespace gpuprof::rules
