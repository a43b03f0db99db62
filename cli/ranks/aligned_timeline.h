// The recordings of several ranks of a job as one, with times on the common clock of the job.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline cli {

// More do not fit on a screen.
inline constexpr std::size_t kMostTimelines = 16;

// `job`: the summaries, which name the files. `ranks`: their numbers as a list, such as 3,7 or 0-7. `given`: what the user named. An error
// if a file is not there or elsewhere (NamedFiles), or the clock of a rank cannot be compared with the others'.
Result<Trace> aligned_timeline(const Trace& job, const std::string& ranks, const std::vector<std::string>& given,
                               const ReadLimits& limits);

}  // namespace gpuprof::cli
