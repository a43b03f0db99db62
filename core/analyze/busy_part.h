// Where most of a recording's device work is. A program that is recorded from its first instruction spends seconds on
// importing, loading and warming up; a verdict on all of it would be a verdict on the start-up.
#pragma once

#include <optional>

#include "core/model/trace.h"

namespace gpuprof {

// The shortest interval in which three quarters of the kernels start, grown to both sides until a pause that is half as
// long again as the longest inside; absent when it is most of the window anyway, or there are too few kernels to tell.
std::optional<Interval> busy_part(const Trace& trace);

// The same of a recording that began with its program, which only our own recorder's do: what a first answer is about.
std::optional<Interval> part_for_first_answer(const Trace& trace);

}  // namespace gpuprof
