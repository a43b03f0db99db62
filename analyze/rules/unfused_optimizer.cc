// An optimizer that updates one tensor at a time: hundreds of small kernels per step.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/host/code_places.h"
#include "analyze/facts/kernels/optimizer_updates.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"
#include "core/model/trace.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinOptimizerPct = 5;  // percent of the effective window

Ruling look_for_unfused_optimizer(const Facts& facts) {
    const OptimizerUpdates& updates = facts.get<OptimizerUpdates>();
    if (updates.all.empty() || facts.get<Practices>().foreach_optimizer) return Ruling::silent();
    if (facts.trace().api_call().rows == 0)
        return Ruling::abstain("CUDA calls were not recorded, so the kernels of the optimizer are unknown");
    DurNs time = 0;
    std::size_t kernels = 0, count = 0;
    for (const OptimizerUpdate& update : updates.all)
        if (update.kernels > 0) time += update.device.length(), kernels += update.kernels, ++count;
    const Shares& shares = facts.get<Shares>();
    if (!updates.by_tensor || shares.effective_pct(time) < kMinOptimizerPct) return Ruling::silent();
    Finding finding;
    finding.cost_ns = time;
    finding.title = fmt::format("The optimizer updates one tensor at a time, for {}", share_text(facts, time));
    if (const Gain& gain = gain_without(facts, Waste::optimizer); gain.predicted) {
        finding.title = fmt::format("The optimizer updates one tensor at a time, which costs {} % of a step",
                                    readable_percent(gain.pct));
        set_cost(finding, gain);
    }
    finding.evidence.push_back(fmt::format("{} launches {} kernels per step, which take {} from the first to the last",
                                           updates.optimizer, spoken_count(kernels / count),
                                           readable_duration(time / static_cast<DurNs>(count))));
    auto first = std::find_if(updates.all.begin(), updates.all.end(),
                              [](const OptimizerUpdate& update) { return update.first_call != kNoRow; });
    if (first != updates.all.end()) finding.place = facts.get<CodePlaces>().of_call(facts, first->first_call);
    finding.remedy = fmt::format(
        "Update all tensors together: torch.optim.{}(..., fused=True), or foreach=True where there is no fused "
        "version.",
        updates.optimizer);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the optimizer is not one of PyTorch's, or its tensors are on several devices or sparse";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kUnfusedOptimizer{"unfused-optimizer",
                             "An optimizer that updates one tensor at a time, with many small kernels.",
                             look_for_unfused_optimizer, Effort::option};

}  // namespace gpuprof::rules
