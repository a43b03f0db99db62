#include "present/answer/kernel_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/selected_kernel.h"
#include "analyze/tables/analysis.h"
#include "core/base/text/function_name.h"
#include "present/answer/trust.h"

namespace gpuprof::inline answer {
namespace {

// A gain that is unknown ranks as this part of the kernel's time: above small gains of others, below known large ones.
constexpr double kUnknownGain = 0.2;
constexpr double kHigh = 20, kMedium = 5;  // percent, as for other findings

Rating severity(const KernelFinding& finding, double gain_pct) {
    if (finding.kind == KernelFindingKind::limit && !finding.gain_pct) return Rating::medium;
    if (gain_pct >= kHigh) return Rating::high;
    return gain_pct >= kMedium ? Rating::medium : Rating::low;
}

// `duration`: that the gain is a part of; `whole`: that the share is of.
Finding finding_of(const KernelFinding& found, double duration, double whole) {
    Finding finding;
    double gain = found.gain_pct.value_or(0);
    finding.id = found.rule;
    finding.cost_ns = static_cast<DurNs>(duration * gain / 100);
    finding.share_pct = whole > 0 ? gain * duration / whole : gain;
    finding.severity = severity(found, finding.share_pct);
    finding.title = found.title;
    finding.evidence = found.evidence;
    finding.remedy = found.remedy;
    finding.effort = Effort::rewrite;
    finding.confidence = found.confidence;
    finding.basis = Basis::counters;
    finding.would_change_if = found.would_change_if;
    return finding;
}

Limit limit_of(KernelLimit limit) {
    if (limit == KernelLimit::compute) return Limit::compute;
    return limit == KernelLimit::unknown || limit == KernelLimit::latency ? Limit::unknown : Limit::memory_bandwidth;
}

}  // namespace

Result<Answer> answer_about_kernel(const Facts& facts) {
    Result<SelectedKernel> selected = selected_kernel(facts);
    if (!selected.ok()) return selected.error();
    const MeasuredKernel& kernel = facts.get<MeasuredKernels>().launches[selected->launch];
    KernelProfile profile(kernel, facts.trace().text(selected->group->name));
    KernelDiagnosis diagnosis(profile);
    double duration = kernel.duration_ns().value_or(0);
    Answer answer;
    answer.window = facts.trace().window();
    answer.trust = trust_without_timeline(facts.trace());
    answer.verdict.limit = limit_of(profile.limit);
    answer.verdict.name = name_of(profile.limit);
    answer.verdict.because =
        diagnosis.sentence.substr(std::min(diagnosis.sentence.size(), diagnosis.sentence.find(": ") + 2));
    if (profile.limit != KernelLimit::unknown && !diagnosis.findings.empty()) {
        answer.verdict.confidence = diagnosis.findings.front().confidence;
        answer.verdict.basis = Basis::counters;
    }
    for (const KernelFinding& found : diagnosis.findings)
        answer.findings.push_back(finding_of(found, duration, duration));
    answer.next_steps.push_back(fmt::format("gpu-profile report {} limits", facts.trace().origin().file));
    return answer;
}

std::vector<Finding> kernel_findings(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    const KernelDiagnoses& diagnoses = facts.get<KernelDiagnoses>();
    double whole = 0;
    for (const MeasuredGroup& group : measured.groups) whole += group.total_ns;
    std::vector<std::pair<double, Finding>>
        found;  // with what is at stake: the gain, or all of the time if it is unknown
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const MeasuredGroup& group = measured.groups[i];
        if (diagnoses.diagnoses[i].findings.empty()) continue;
        Finding finding = finding_of(diagnoses.diagnoses[i].findings.front(), group.total_ns, whole);
        std::string name = short_name(facts.trace().text(group.name));
        finding.title = fmt::format("{} {}: {}", group.handle, name, finding.title);
        bool known = diagnoses.diagnoses[i].findings.front().gain_pct.has_value();
        found.emplace_back(known ? static_cast<double>(finding.cost_ns) : kUnknownGain * group.total_ns,
                           std::move(finding));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Finding> findings;
    for (auto& [stake, finding] : found) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace gpuprof::answer
