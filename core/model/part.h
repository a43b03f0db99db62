// A part of a trace as a trace of its own: the device work that starts in an interval, the host events that reach into it
// or submitted that work, and what was sampled meanwhile. Rows are kept whole. The part remembers the window of the whole, so
// that times shown from the beginning mean the same in both.
#pragma once

#include "core/model/trace.h"

namespace gpuprof {

// `part` ends where the last work that starts in it ends, at the earliest. Losses are those of the whole.
Trace part_of(Trace whole, Interval part);

// A trace whose times count from the start of the recording, as people and analyses count them. For whoever hands out the columns
// themselves (SQL, Arrow): their times then agree with those of every analysis, and nothing has to be copied for it.
// Of the whole recording; trace.zero() says what is lost by it.
Trace from_zero(Trace trace);
// With the window of one that has none of its own, because all that is known of it are samples: times count from its start.
Trace from_zero(Trace trace, Interval window);

}  // namespace gpuprof
