// A trace whose times count from the start of the recording, as people and analyses count them. For whoever hands out the columns
// themselves (SQL, Arrow): their times then agree with those of every analysis, and nothing has to be copied for it.
#pragma once

#include "core/model/trace.h"

namespace gpuprof {

// Of the whole recording; trace.zero() says what is lost by it.
Trace from_zero(Trace trace);
// With the window of one that has none of its own, because all that is known of it are samples: times count from its start.
Trace from_zero(Trace trace, Interval window);

}  // namespace gpuprof
