// Answers from counters of kernels: about one kernel, and the findings about those that take the most time.
#pragma once

#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/kernels/kernel_rule_list.h"
#include "core/base/result.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

// The kernel that the options select: what holds it back, why, and what to change. Shares are of its duration.
Result<Answer> answer_about_kernel(const Facts& facts);

// The first finding of each kernel with counters, most time first.
std::vector<Finding> kernel_findings(const Facts& facts);

}  // namespace gpuprof::answer
