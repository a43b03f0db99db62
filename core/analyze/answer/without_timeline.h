// The first answer to a file that has no timeline: counters of kernels, samples of a device, an allocator's records, or a tree of
// calls. Each says what it can, and what would have to be recorded for the rest.
#pragma once

#include "core/analyze/facts/facts.h"
#include "core/base/result.h"
#include "core/model/answer.h"

namespace gpuprof {

// ExitCode::empty when the trace holds none of that either.
Result<Answer> answer_without_timeline(const Facts& facts);

}  // namespace gpuprof
