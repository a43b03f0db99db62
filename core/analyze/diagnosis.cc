#include "core/analyze/diagnosis.h"

#include <algorithm>
#include <future>

#include "core/analyze/findings/rule.h"
#include "core/analyze/verdict.h"

namespace gpuprof {

Diagnosis diagnose(const Study& study) {
    Diagnosis diagnosis;
    // Judging kernels reads nothing that finding gaps makes, so both cores work; op_rates() is made before either needs it.
    study.op_rates();
    std::future<std::vector<KernelGroup>> kernels =
        std::async(std::launch::async, [&] { return judge_kernels(study); });
    study.gaps();
    diagnosis.kernels = kernels.get();
    diagnosis.distortion = assess_distortion(study);
    diagnosis.shares = split_window(study, diagnosis.kernels, diagnosis.distortion);
    diagnosis.verdict = judge(study, diagnosis);
    Case look(study, diagnosis);
    bool incomplete = much_missing(study.trace());
    for (const Rule& rule : rules()) {
        if (diagnosis.shares.busy == 0) break;
        if (incomplete && rule.of_idle_time)
            look.abstain(rule.id, "much of the device work was not recorded");
        else
            rule.look(look);
    }
    if (incomplete)
        for (Finding& finding : diagnosis.findings) finding.confidence = Weight::low;
    std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.cost_ns > b.cost_ns; });
    return diagnosis;
}

}  // namespace gpuprof
