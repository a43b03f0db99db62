// The verdict about a distributed job: what its stragglers cost, by the replays of ranks.
#pragma once

#include "analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

Verdict job_verdict(const Facts& facts);

// What the reader must know of a job: ranks that are missing, clocks that could not be aligned, gaps that may hide waits.
Trust job_trust(const Facts& facts);

}  // namespace gpuprof::answer
