// A part of a trace as a separate trace: the device work that starts in an interval, the host events that overlap it or
// submitted that work, and the samples taken during it. Rows are kept whole. The part remembers the window of the
// whole, so that times shown relative to the start mean the same in both.
#pragma once

#include "core/model/trace.h"

namespace gpuprof::inline model {

// `part` ends at the earliest where the last work that starts in it ends. Losses are those of the whole.
Trace select_interval(Trace whole, Interval part);

// A trace whose times count from the start of the recording, as people and analyses count them. For code that exposes
// the columns themselves (SQL, Arrow): their times then agree with every analysis, without a copy.
// Of the whole recording; trace.zero() returns the offset.
Trace rebase_to_start(Trace trace);
// The same, with a window for a trace that has only samples: times count from the first one. Columns take as few bytes as their
// values need: for programs that keep the trace long.
Trace rebase_to_start(Trace trace, Interval window);

}  // namespace gpuprof::model
