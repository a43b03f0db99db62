// The verdict: the one thing that limits the recorded run, or that it cannot be told. It compares the parts of the window
// (shares.h) after taking out what the recorder made itself, and abstains rather than guesses.
#pragma once

#include "core/analyze/diagnosis.h"
#include "core/analyze/study.h"

namespace gpuprof {

// Whether so much device work is known to be missing that idle time may be work.
bool much_missing(const Trace& trace);

Verdict judge(const Study& study, const Diagnosis& diagnosis);

}  // namespace gpuprof
