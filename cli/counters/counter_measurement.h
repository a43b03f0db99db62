// What to measure, from the options: counters, kernels, limits. Made into a plan for the injected library after asking
// CUPTI, in a process of its own, which counters this machine's GPU offers to this user.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/counters/chosen_kernels.h"
#include "collect/counters/counter_wire.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct MeasurementOptions {
    std::string set, kernel, range, cache = "warm", clock = "none";
    std::int64_t launches = 3, skip = 0;
    double budget_s = 30, hang_s = 60;
};

struct Measurement {
    MeasurementOptions options;
    counters::PlanReply reply;  // with one set
    std::vector<std::string> remarks;
    std::string locked = "none";  // what clocks are locked to

    const counters::PlannedSet& set() const { return reply.sets.front(); }
    // The plan for the library; without kernels, all that the pattern matches.
    std::string encoded(const std::vector<KernelToMeasure>& kernels) const;
};
// `program`: the command; its Python environment is searched for CUPTI.
Result<Measurement> plan_measurement(const MeasurementOptions& options, const std::string& program);

}  // namespace gpuprof::cli
