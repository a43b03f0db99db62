// A part of a trace as a trace of its own: the device work that starts in an interval, the host events that reach into it
// or submitted that work, and what was sampled meanwhile. Rows are kept whole. The part remembers the window of the whole, so
// that times shown from the beginning mean the same in both.
#pragma once

#include "core/model/trace.h"

namespace gpuprof {

// `part` ends where the last work that starts in it ends, at the earliest. Losses are those of the whole.
Trace part_of(Trace whole, Interval part);

}  // namespace gpuprof
