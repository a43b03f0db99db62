// The recorder itself slowed what it recorded.
#include "core/analyze/facts/profiler_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analyze/facts/shares.h"
#include "core/analyze/rules/evidence.h"
#include "core/analyze/rules/rule_list.h"
#include "core/base/readable.h"
#include "core/schema/facts.h"

namespace gpuprof {
namespace {

constexpr double kWorthAsking = 10;  // percent of the window that is idle for the host

// What recording costs is measured for torch.profiler and told by our own recorder; of others it is not known.
Ruling unknown_cost(const Facts& facts) {
    const std::string& tool = facts.trace().origin().tool;
    bool known = tool.empty() || tool == "torch.profiler" || tool == fact::kRecorderTool;
    if (known || facts.get<Shares>().pct(facts.get<ProfilerCost>().host_idle) < kWorthAsking) return Ruling::silent();
    return Ruling::abstain(
        fmt::format("what recording with {} costs the host is not known; compare the step time with that of an "
                    "unprofiled run",
                    tool));
}

Ruling look(const Facts& facts) {
    const ProfilerCost& cost = facts.get<ProfilerCost>();
    if (!cost.distorted()) return unknown_cost(facts);
    Finding finding;
    finding.cost_ns = std::min(cost.idle_in_overhead + cost.explained_ns, facts.get<Shares>().window);
    finding.title =
        fmt::format("The profiler itself made up to {} of the idle time", readable_duration(finding.cost_ns));
    if (cost.idle_in_overhead > 0)
        finding.evidence.push_back(fmt::format("{} of idle time lies inside the profiler's own overhead records",
                                               readable_duration(cost.idle_in_overhead)));
    if (cost.host_doubtful)
        finding.evidence.push_back(fmt::format(
            "{} host records on the submitting threads, which cost the host {} or more, against {} of "
            "waiting for launches and host code",
            spoken_count(cost.records), readable_duration(cost.estimated_ns), readable_duration(cost.host_idle)));
    finding.remedy =
        "Do not optimise these gaps yet: record once with less (CUDA activities only, no stacks or shapes) or with a "
        "lighter recorder, and compare the step time with that of an unprofiled run.";
    finding.confidence = Weight::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if = "an unprofiled run took as long per step as this recording";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kProfilerCost{"profiler-cost", "The recorder itself slowed what it recorded.", look};

}  // namespace gpuprof
