// What the numbers of a trace rest on, as sentences: what was recorded and by what, what was lost, what the recorder itself
// cost, and what was not recorded and so cannot be known.
#pragma once

#include "core/analyze/study.h"
#include "core/model/answer.h"

namespace gpuprof {

Trust trust_of(const Study& study);

}  // namespace gpuprof
