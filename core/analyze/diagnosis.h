// The diagnosis of a trace: where the window went, what the recorder did to it, the verdict, and the findings.
#pragma once

#include <vector>

#include "core/analyze/bound.h"
#include "core/analyze/distortion.h"
#include "core/analyze/shares.h"
#include "core/model/answer.h"

namespace gpuprof {

struct Diagnosis {
    std::vector<KernelGroup> kernels;
    Distortion distortion;
    Shares shares;
    Verdict verdict;
    std::vector<Finding> findings;         // by cost, the largest first
    std::vector<std::string> abstentions;  // rules that could not look, and why
};

Diagnosis diagnose(const Study& study);

}  // namespace gpuprof
