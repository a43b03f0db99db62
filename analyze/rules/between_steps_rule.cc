// Saving, evaluating or logging between the steps.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/between_steps.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Parts of the time between steps from which kernels make it an evaluation, and copies to the host make it saving.
constexpr double kEvaluates = 0.5, kSaves = 0.1;

std::string remedy_for_work_between(const BetweenSteps& between, const Context& context) {
    auto part = [&](DurNs of) { return static_cast<double>(of) / static_cast<double>(between.exposed); };
    if (part(between.kernels) >= kEvaluates)
        return "Evaluate less often, on fewer batches, or on another GPU from a saved copy.";
    if (part(between.copied_to_host) >= kSaves)
        return fmt::format(
            "Save less often, or during the steps: copy to pinned buffers without waiting, and write the file in "
            "another thread or process{}.",
            context.pytorch() ? " (torch.distributed.checkpoint.async_save)" : "");
    return "Move this work to another thread or process, or do it less often.";
}

Ruling look_for_work_between_steps(const Facts& facts) {
    const BetweenSteps& between = facts.get<BetweenSteps>();
    if (between.exposed == 0) return Ruling::silent();
    if (const std::string& why = facts.get<Sufficiency>().idle_unreliable_because; !why.empty())
        return Ruling::abstain(why);
    const Shares& shares = facts.get<Shares>();
    const Gain& gain = gain_without(facts, Waste::between_steps);
    DurNs on_all = std::min(between.exposed * static_cast<DurNs>(shares.devices), shares.window);
    if ((gain.predicted ? gain.pct : shares.pct(on_all)) < kMinFindingPct) return Ruling::silent();
    if (!gain.predicted && facts.get<Replayed>().holds) return Ruling::silent();  // another change gives the same
    Finding finding;
    set_cost(finding, gain);
    if (!gain.predicted) finding.cost_ns = on_all;
    finding.title = gain.predicted ? fmt::format("Work between steps costs {} % of a step", readable_percent(gain.pct))
                                   : fmt::format("Work between steps takes {}", share_text(facts, on_all));
    auto times = static_cast<DurNs>(between.stretches.size()), steps = static_cast<DurNs>(between.steps);
    finding.evidence.push_back(
        fmt::format("{}{} in {}: no work of steps runs for {} each time, {} per step on average, {}",
                    between.name.empty() ? "" : between.name + ": ", readable_count(between.stretches.size(), "time"),
                    readable_count(between.steps, "step"), readable_duration(between.exposed / times),
                    readable_duration(between.exposed / steps), share_text(facts, on_all)));
    finding.evidence.push_back(
        fmt::format("of that time, kernels run for {} and copies alone for {}; in the rest the GPU is idle",
                    readable_duration(between.kernels), readable_duration(between.copies)));
    finding.place = between.name;
    finding.remedy = remedy_for_work_between(between, facts.get<Context>());
    finding.confidence = between.name.empty() ? Rating::medium : Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the ranges that mark the steps leave out a part of every step";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kBetweenSteps{"between-steps", "Saving, evaluating or logging between the steps delays them.",
                         look_for_work_between_steps, Effort::edit};

}  // namespace gpuprof::rules
