// What the numbers of a trace rest on, as sentences: what was recorded and by what, what was lost, what the recorder itself
// cost, and what was not recorded and so cannot be known.
#pragma once

#include "core/analyze/facts/facts.h"
#include "core/model/answer.h"

namespace gpuprof {

// `about_idle`: whether what is shown speaks of idle time, so that what the recorder made of it must be said.
// Of a recording that has no timeline: what it holds, and what was lost of it.
Trust trust_without_timeline(const Trace& trace);

Trust trust_of(const Facts& facts, bool about_idle);

}  // namespace gpuprof
