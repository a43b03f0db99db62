// The verdict: the one limiter of the recorded run, or "cannot tell". It compares the parts of the window
// (facts/shares.h) after taking out what the recorder made itself, and abstains rather than guesses.
#pragma once

#include "analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof::inline answer {

Verdict judge(const Facts& facts);

}  // namespace gpuprof::answer
