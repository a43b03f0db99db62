// The call stack of every slice of a timeline, so that any stretch can be summed by name and by stack. Device work is
// below the call that submitted it, and that below its stack if one was recorded (`record --launch-stacks`); a piece of idle time is below the innermost event that was open during all of it, on
// the thread that explains it.
//
// Invariant: a host event lies within every event of the frames above it, so the self time of a frame is its time minus
// that of the frames directly below, and never negative.
#pragma once

#include "analyze/facts/facts.h"
#include "present/view/scene.h"
#include "present/view/stack_frame.h"

namespace gpuprof::inline view {

CallStacks call_stacks(const Facts& facts, const Scene& scene);

}  // namespace gpuprof::view
