// The device is idle while the host runs other code.
#include <fmt/format.h>

#include "analyze/facts/context.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/replay/gain.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

// Host code leaves small gaps in every healthy run. In percent of the window; doubled if the recorder may have caused
// the gaps.
constexpr double kMinIdleGapsPct = 8;
constexpr IdleCause kCauses[] = {IdleCause::host_compute, IdleCause::nothing_submitted, IdleCause::compilation};

std::string remedy_for_idle_gaps(const Context& context, const Practices& practices) {
    std::string_view python = context.python ? "run less Python between launches, " : "";
    std::string_view compile = "load modules";
    if (context.framework == Framework::tensorrt) compile = "build engines";
    if (context.framework == Framework::jax) compile = "compile ahead of time (lower().compile())";
    if (context.pytorch()) compile = "warm up torch.compile and cuDNN";
    return fmt::format(
        "Move host work off the path that feeds the GPU: prepare the next step while this one runs, {}{}and {} before "
        "the "
        "loop.",
        python, practices.graphs ? "" : "use CUDA graphs, ", compile);
}

Ruling look_for_idle_gaps(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    const ProfilerCost& recorder = facts.get<ProfilerCost>();
    Ruling ruling;
    DurNs unknown = shares.idle_of(IdleCause::unknown) + shares.idle_of(IdleCause::unrecorded_work);
    if (facts.get<Arrivals>().pattern == ArrivalPattern::unproved)
        ruling.cannot_tell = "between units of work, nothing of the host was recorded: it may have waited for requests";
    else if (shares.effective_pct(unknown) >= kMinFindingPct)
        ruling.cannot_tell = fmt::format(
            "the cause of {} of idle time is unknown: the work that ended it was submitted long before, or its launch "
            "was not recorded",
            readable_duration(unknown));
    Finding finding;
    const Gain& gain = gain_without(facts, Waste::host_code);
    double least = recorder.host_doubtful && !gain.predicted ? 2 * kMinIdleGapsPct : kMinIdleGapsPct;
    if ((gain.predicted ? gain.pct : shares.pct(gain.ns)) < least) return ruling;
    set_cost(finding, gain);
    finding.title =
        gain.predicted
            ? fmt::format("Long stretches of host code cost {} % of a step", readable_percent(gain.pct))
            : fmt::format("The GPU is idle {} while the host runs other code", share_text(facts, gain.idle_ns));
    for (IdleCause cause : kCauses) {
        if (shares.idle_of(cause) == 0) continue;
        finding.evidence.push_back(idle_line(facts, cause));
        push_gap_lines(facts, cause, finding);
    }
    finding.remedy = remedy_for_idle_gaps(facts.get<Context>(), facts.get<Practices>());
    finding.confidence = recorder.host_doubtful && !gain.predicted ? Rating::low : Rating::medium;
    finding.basis = Basis::timeline;
    finding.would_change_if =
        "the recording covers only the steady state (start-up and the final wait count as idle here)";
    ruling.finding = Ruling::fires(std::move(finding)).finding;
    return ruling;
}

}  // namespace

const Rule kIdleGaps{"idle-gaps", "The GPU is idle while the host runs other code.", look_for_idle_gaps,
                     Effort::rewrite, true};

}  // namespace gpuprof::rules
