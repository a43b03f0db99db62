// The verdict about dumps of flight recorders, of a job or of one rank: what hangs, and who is missing.
#pragma once

#include "analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

Verdict hang_verdict(const Facts& facts);

// How many dumps there are, ranks without one, and buffers that were too small to hold what hangs.
Trust hang_trust(const Facts& facts);

}  // namespace gpuprof::answer
