#include "core/analyze/answer/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "core/analyze/answer/verdict.h"
#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/completeness.h"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/gaps.h"
#include "core/analyze/facts/judgeable.h"
#include "core/analyze/facts/kernel_bound.h"
#include "core/analyze/facts/occupancy.h"
#include "core/analyze/facts/shares.h"
#include "core/analyze/rules/rule.h"

namespace gpuprof {
namespace {

constexpr double kHighShare = 20, kMediumShare = 5;  // percent of the window

void rate(const Shares& shares, Finding& finding) {
    finding.share_pct = shares.pct(finding.cost_ns);
    finding.severity = finding.share_pct >= kHighShare     ? Weight::high
                       : finding.share_pct >= kMediumShare ? Weight::medium
                                                           : Weight::low;
}

void consult(const Facts& facts, Diagnosis& diagnosis) {
    const Shares& shares = facts.get<Shares>();
    if (shares.busy == 0) return;
    const std::string& why_not = facts.get<Judgeable>().idle_why_not;
    bool incomplete = much_missing(facts.trace());
    for (const Rule* rule : rules()) {
        Ruling ruling = !why_not.empty() && rule->of_idle_time ? Ruling::abstain(why_not) : rule->look(facts);
        if (!ruling.cannot_tell.empty())
            diagnosis.abstentions.push_back(fmt::format("{}: cannot tell; {}.", rule->id, ruling.cannot_tell));
        if (!ruling.finding) continue;
        Finding& finding = diagnosis.findings.emplace_back(std::move(*ruling.finding));
        finding.id = rule->id;
        rate(shares, finding);
        if (incomplete) finding.confidence = Weight::low;
    }
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
}

}  // namespace

Diagnosis Diagnosis::make(const Facts& facts) {
    // Finding gaps starts with host activity, which takes as long as the facts about kernels and does not depend on
    // them, so the two run in parallel.
    std::future<void> kernels = std::async(std::launch::async, [&] {
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

}  // namespace gpuprof
