// The part of a recording that repeats, which is what a verdict is about. A program that is recorded from its first
// instruction spends seconds on importing, loading and warming up, and its first step compiles and allocates.
#pragma once

#include <optional>

#include "core/model/trace.h"

namespace gpuprof {

class Facts;

// The shortest interval in which three quarters of the kernels start, grown to both sides until a pause that is half as
// long again as the longest inside; absent when it is most of the window anyway, or there are too few kernels to tell.
std::optional<Interval> busy_part(const Trace& trace);

// Where steps with enough kernels are known: without those in front that take more than twice the median. Else the busy part,
// when it says more than that the program paused. Else from the first work of a device to the last.
struct SteadyPart {
    Interval part;
    static SteadyPart make(const Facts& facts);
};

// What a first answer is about where that is less than the whole: the steady part, unless it is most of the window.
std::optional<Interval> part_for_first_answer(const Facts& facts);

}  // namespace gpuprof
