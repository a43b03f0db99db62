// The --fail-on conditions of `ranks`: what a job may lose before the exit status says so.
//
//     cost>2%       one named straggler costs more than 2 % of the step
//     uneven>10%    uneven ranks and transfers together take more than 10 % of the step
//     lost>0        ranks without a whole recording; lost>1% is their share of the job
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/exit_code.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

enum class JobMetric { cost, uneven, lost };

struct JobMetricSpec {
    JobMetric metric;
    std::string_view name;
};
inline constexpr JobMetricSpec kJobMetrics[] = {
    {JobMetric::cost, "cost"}, {JobMetric::uneven, "uneven"}, {JobMetric::lost, "lost"}};

struct JobCondition {
    std::string text;  // as given by the user
    JobMetric metric = JobMetric::cost;
    double limit = 0;
    bool percent = true;  // else a number of ranks
};

Result<JobCondition> job_condition_of(std::string_view text);
Result<std::vector<JobCondition>> job_conditions_of(const std::vector<std::string>& texts);

// Reports on standard error what fired and what could not be judged. ExitCode::threshold if one fired.
ExitCode evaluate_all(const std::vector<JobCondition>& conditions, const Facts& facts);

}  // namespace gpuprof::cli
