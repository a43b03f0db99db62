#include "analyze/kernels/kernel_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline kernels {
namespace {

// A cause that gains less does not explain the limit.
constexpr double kExplains = 15;  // percent of the duration

bool explains(const KernelFinding& finding) {
    return finding.kind == KernelFindingKind::cause && finding.gain_pct.value_or(0) >= kExplains;
}

// Causes that explain the limit, the limit, other causes; each by gain.
int place(const KernelFinding& finding) {
    if (explains(finding)) return 0;
    return finding.kind == KernelFindingKind::limit ? 1 : 2;
}

// A title within a sentence. Names like "L2" keep their capital.
std::string continued(std::string title) {
    bool name = title.size() > 1 && (title[1] < 'a' || title[1] > 'z');
    if (!name && !title.empty() && title[0] >= 'A' && title[0] <= 'Z')
        title[0] = static_cast<char>(title[0] - 'A' + 'a');
    return title;
}

}  // namespace

KernelDiagnosis::KernelDiagnosis(const KernelProfile& profile) {
    for (const KernelRule* rule : kKernelRules) {
        KernelRuling ruling = rule->look(profile);
        if (ruling.finding) {
            ruling.finding->rule = rule->id;
            findings.push_back(std::move(*ruling.finding));
        }
        if (!ruling.cannot_tell.empty()) abstentions.push_back(fmt::format("{}: {}", rule->id, ruling.cannot_tell));
    }
    std::stable_sort(findings.begin(), findings.end(), [](const KernelFinding& a, const KernelFinding& b) {
        return std::pair(place(a), -a.gain_pct.value_or(0)) < std::pair(place(b), -b.gain_pct.value_or(0));
    });
    sentence = name_of(profile.limit);
    auto limit = std::find_if(findings.begin(), findings.end(),
                              [](const KernelFinding& finding) { return finding.kind == KernelFindingKind::limit; });
    if (limit != findings.end()) sentence += ": " + continued(limit->title);
    if (!findings.empty() && explains(findings.front()))
        sentence += (limit != findings.end() ? "; " : ": ") + continued(findings.front().title);
    if (profile.limit == KernelLimit::unknown && sentence == name_of(profile.limit))
        sentence += ": throughput of compute and memory was not collected";
}

KernelDiagnoses KernelDiagnoses::make(const Facts& facts) {
    KernelDiagnoses result;
    for (const KernelProfile& profile : facts.get<KernelProfiles>().profiles) result.diagnoses.emplace_back(profile);
    return result;
}

}  // namespace gpuprof::kernels
