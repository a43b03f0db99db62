#include "core/analyze/diagnosis.h"

#include <algorithm>

#include "core/analyze/findings/rule.h"
#include "core/analyze/verdict.h"

namespace gpuprof {

Diagnosis diagnose(const Study& study) {
    Diagnosis diagnosis;
    diagnosis.kernels = judge_kernels(study);
    diagnosis.distortion = assess_distortion(study);
    diagnosis.shares = split_window(study, diagnosis.kernels, diagnosis.distortion);
    diagnosis.verdict = judge(study, diagnosis);
    Case look(study, diagnosis);
    if (diagnosis.shares.busy > 0)
        for (const Rule& rule : rules()) rule.look(look);
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
    return diagnosis;
}

}  // namespace gpuprof
