// Kernels that only change the layout of data.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

bool any_convolution(const Facts& facts) {
    for (const KernelGroup& group : facts.get<KernelGroups>().groups)
        if (group.traits.kind == KernelClass::convolution) return true;
    return false;
}

std::string remedy_for_layout_conversion(const Facts& facts) {
    bool torch = facts.get<Context>().pytorch();
    if (torch && any_convolution(facts) && !facts.get<Practices>().channels_last)
        return "Keep one layout from end to end: use channels_last for convolutions (model and input "
               ".to(memory_format=torch.channels_last)), and call .contiguous() once instead of in every step.";
    if (torch)
        return "Keep one layout from end to end: call .contiguous() once instead of in every step, and avoid "
               "transposes that the next operator undoes.";
    return "Keep one layout from end to end, convert once instead of in every step, and tile transposes in shared "
           "memory.";
}

Ruling look_for_layout_conversion(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    KernelPart part = [&](const KernelGroup& group) { return layout_changes(facts, group); };
    Finding finding;
    finding.cost_ns = busy_with(facts, part);
    if (shares.effective_pct(finding.cost_ns) < kMinFindingPct) return Ruling::abstain(names_are_uninformative(facts));
    finding.title = fmt::format("Layout conversions take {}", share_text(facts, finding.cost_ns));
    if (const Gain& gain = gain_without(facts, Waste::layouts); gain.predicted) {
        finding.title = fmt::format("Layout conversions cost {} % of a step", readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    push_kernel_lines(facts, part, finding);
    finding.remedy = remedy_for_layout_conversion(facts);
    finding.confidence = Rating::high;
    finding.basis = Basis::names;
    finding.would_change_if = "the conversions are needed once, not in every step";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kLayoutConversion{"layout-conversion", "Kernels that only change the layout of data.",
                             look_for_layout_conversion, Effort::edit};

}  // namespace gpuprof::rules
