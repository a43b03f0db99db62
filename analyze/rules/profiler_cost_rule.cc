// The recorder slowed down the program.
#include "analyze/facts/idle/profiler_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/shares.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinHostIdlePct = 10;  // percent of the window that is idle for the host

// The cost of recording was measured for torch.profiler, and gpu-profile's recorder reports it. For other tools it is
// unknown.
Ruling unknown_cost(const Facts& facts) {
    const std::string& tool = facts.trace().origin().recorder_of_work();
    bool known = tool.empty() || tool == "torch.profiler" || tool == meta_key::kRecorderTool;
    if (known || facts.get<Shares>().pct(facts.get<ProfilerCost>().host_idle) < kMinHostIdlePct)
        return Ruling::silent();
    return Ruling::abstain(
        fmt::format("the cost of recording with {} is unknown; compare the step time with an unprofiled run", tool));
}

Ruling look_for_profiler_cost(const Facts& facts) {
    const ProfilerCost& cost = facts.get<ProfilerCost>();
    if (!cost.distorted()) return unknown_cost(facts);
    if (too_little_work(facts)) return Ruling::abstain("too few kernels ran to characterise the program");
    Finding finding;
    finding.cost_ns = std::min(cost.idle_in_overhead + cost.explained_ns, facts.get<Shares>().window);
    finding.title = fmt::format("The profiler itself kept the GPU idle for up to {}, {}",
                                readable_duration(finding.cost_ns), share_text(facts, finding.cost_ns));
    if (cost.idle_in_overhead > 0)
        finding.evidence.push_back(fmt::format("{} of idle time lies inside the profiler's own overhead records",
                                               readable_duration(cost.idle_in_overhead)));
    if (cost.host_doubtful)
        finding.evidence.push_back(fmt::format(
            "writing {} host records on the submitting threads cost at least {}; the GPU waited {} for launches and "
            "host code",
            spoken_count(cost.records), readable_duration(cost.estimated_ns), readable_duration(cost.host_idle)));
    finding.remedy =
        "Do not optimise these gaps yet: record less (CUDA activities only, no stacks or shapes) or use a recorder "
        "with less overhead, and compare the step time with an unprofiled run.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "an unprofiled run takes as long per step as this recording";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kProfilerCost{"profiler-cost", "The profiler slowed down the program that it recorded.",
                         look_for_profiler_cost, Effort::edit};

}  // namespace gpuprof::rules
