// The summaries of a job's ranks as one trace, with a row for every rank that is missing or could not be read.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/ranks/engine.h"
#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"

namespace gpuprof {

// `expected`: ranks of the job; 0: as recorded.
Result<Trace> job_trace(const std::vector<ReducedFile>& files, std::int64_t expected, const std::string& name,
                        const ReadLimits& limits);

}  // namespace gpuprof
