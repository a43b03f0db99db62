// What a verdict says of pauses in which the host waited for something outside the program: a clock, requests, or what was not
// recorded. The answer is then about the work itself, so it goes on with what takes the time between two pauses.
#pragma once

#include "analyze/facts/facts.h"
#include "present/answer/explanations.h"

namespace gpuprof::inline answer {

// Rewrites the reason of the explanation that such pauses decide; nothing if no pause is of this kind.
void explain_pauses(const Facts& facts, Explanations& found);

}  // namespace gpuprof::answer
