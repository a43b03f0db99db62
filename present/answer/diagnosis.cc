#include "present/answer/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/facts/kernels/kernel_occupancy.h"
#include "analyze/facts/shares.h"
#include "analyze/facts/steps/sufficiency.h"
#include "analyze/facts/work_missing.h"
#include "analyze/rules/rule.h"
#include "present/answer/verdict.h"

namespace gpuprof::inline answer {
namespace {

constexpr double kHighSeverityPct = 20, kMediumSeverityPct = 5;  // percent of the window, or of a step

void rate(const Shares& shares, Finding& finding) {
    finding.share_pct = finding.predicted ? finding.predicted->gain_pct : shares.pct(finding.cost_ns);
    finding.severity = finding.share_pct >= kHighSeverityPct     ? Rating::high
                       : finding.share_pct >= kMediumSeverityPct ? Rating::medium
                                                                 : Rating::low;
}

void consult(const Facts& facts, Diagnosis& diagnosis) {
    const Shares& shares = facts.get<Shares>();
    const std::string& insufficient_because = facts.get<Sufficiency>().idle_unreliable_because;
    bool incomplete = work_missing(facts.trace());
    for (const Rule* rule : all_rules()) {
        if (shares.busy == 0 && rule->needs_work) continue;
        Ruling ruling = !insufficient_because.empty() && rule->of_idle_time ? Ruling::abstain(insufficient_because)
                                                                            : rule->look(facts);
        if (!ruling.cannot_tell.empty())
            diagnosis.abstentions.push_back(fmt::format("{}: cannot tell; {}.", rule->id, ruling.cannot_tell));
        if (!ruling.finding) continue;
        Finding& finding = diagnosis.findings.emplace_back(std::move(*ruling.finding));
        finding.id = rule->id;
        rate(shares, finding);
        if (incomplete) finding.confidence = Rating::low;
    }
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
}

}  // namespace

Diagnosis Diagnosis::make(const Facts& facts) {
    // Finding gaps starts with host activity, which takes as long as the facts about kernels and does not depend on
    // them, so the two run in parallel.
    // On this thread if the system refuses another.
    std::future<void> kernels = std::async(std::launch::async | std::launch::deferred, [&] {
        facts.get<Activity>();
        facts.get<KernelGroups>();
        facts.get<LaunchOccupancy>();
    });
    facts.get<IdleGaps>();
    kernels.get();
    Diagnosis diagnosis;
    diagnosis.verdict = judge(facts);
    consult(facts, diagnosis);
    return diagnosis;
}

}  // namespace gpuprof::answer
