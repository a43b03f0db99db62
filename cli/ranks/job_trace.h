// The summaries of a job's ranks as one trace, with a row for every rank that is missing or could not be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/ranks/engine.h"
#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"
#include "ranks/reduce/chosen_steps.h"

namespace gpuprof::inline cli {

struct WantedJob {
    std::int64_t expected = 0;  // ranks of the job; 0: as recorded
    std::string job;            // of several: its number from 1, or "all"; "": an error if there are several
    StepChoice steps;           // whose collectives are read
};

// `name` is that of the trace.
Result<Trace> job_trace(const std::vector<ReducedFile>& files, const WantedJob& wanted, const std::string& name,
                        const ReadLimits& limits);

}  // namespace gpuprof::cli
