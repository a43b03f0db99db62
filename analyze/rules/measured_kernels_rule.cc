// Kernels whose counters say what slows them down: the causes that cost the most.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/shares.h"
#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::size_t kMaxKernels = 3;

struct SlowKernel {
    const MeasuredGroup* group;
    const KernelFinding* finding;
    DurNs cost = 0;
};

// By group: duration of its kernels in the timeline.
std::vector<DurNs> timeline_durations(const Trace& trace, const MeasuredKernels& measured) {
    std::vector<DurNs> durations(measured.groups.size());
    for (Row row = 0; row < measured.match.shape_of.size(); ++row)
        if (std::uint32_t group = measured.match.shape_of[row]; group != CounterMatch::kNone)
            durations[group] += trace.kernel().dur[row];
    return durations;
}

std::vector<SlowKernel> slow_kernels(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    std::vector<DurNs> durations = timeline_durations(facts.trace(), measured);
    std::vector<SlowKernel> slow;
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const std::vector<KernelFinding>& findings = facts.get<KernelDiagnoses>().diagnoses[i].findings;
        if (findings.empty() || findings.front().kind != KernelFindingKind::cause) continue;
        auto cost = static_cast<DurNs>(static_cast<double>(durations[i]) * findings.front().gain_pct.value_or(0) / 100);
        if (cost > 0) slow.push_back({&measured.groups[i], &findings.front(), cost});
    }
    std::stable_sort(slow.begin(), slow.end(),
                     [](const SlowKernel& a, const SlowKernel& b) { return a.cost > b.cost; });
    return slow;
}

Ruling look_for_measured_kernels(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    if (measured.groups.empty() || facts.trace().kernel().rows == 0) return Ruling::silent();
    if (measured.match.shape_of.empty())
        return Ruling::abstain("no kernel of the timeline has the name and launch shape of one with counters");
    std::vector<SlowKernel> slow = slow_kernels(facts);
    DurNs cost = 0;
    for (const SlowKernel& kernel : slow) cost += kernel.cost;
    const Shares& shares = facts.get<Shares>();
    if (slow.empty() || shares.effective_pct(cost) < kMinFindingPct) return Ruling::silent();
    auto named = [&](const SlowKernel& kernel) {
        return fmt::format("{} {}: {}", kernel.group->handle, short_name(facts.trace().text(kernel.group->name)),
                           kernel.finding->title);
    };
    Finding finding;
    finding.cost_ns = cost;
    finding.share_pct = shares.effective_pct(cost);
    finding.title = named(slow.front());
    for (std::size_t i = 1; i < std::min(slow.size(), kMaxKernels); ++i)
        finding.evidence.push_back(fmt::format("{} (up to {})", named(slow[i]), readable_duration(slow[i].cost)));
    finding.evidence.insert(finding.evidence.end(), slow.front().finding->evidence.begin(),
                            slow.front().finding->evidence.end());
    finding.remedy = slow.front().finding->remedy;
    finding.confidence = slow.front().finding->confidence;
    finding.basis = Basis::counters;
    finding.would_change_if = slow.front().finding->would_change_if;
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kMeasuredKernels{"measured-kernels", "Kernels whose counters say what slows them down.",
                            look_for_measured_kernels, Effort::rewrite};

}  // namespace gpuprof::rules
