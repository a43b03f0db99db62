// The first answer to a file without a timeline: counters of kernels, samples of a device, an allocator's records, or a
// call tree. Each says what it shows, and what to record for the rest.
#pragma once

#include "analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

// ExitCode::empty when the trace holds none of that either.
Result<Answer> answer_without_timeline(const Facts& facts);

}  // namespace gpuprof::answer
