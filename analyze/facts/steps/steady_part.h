// The part of a recording that repeats, which a verdict is about. A program that is recorded from its start spends
// seconds on imports, loading and warm-up, and its first step compiles and allocates.
#pragma once

#include <optional>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

// The shortest interval that holds three quarters of the kernels and of their time, extended on both sides up to a pause
// 1.5 times the longest pause inside; absent if it is most of the window anyway, or there are too few kernels.
std::optional<Interval> busy_part(const Trace& trace);

// Whether more work runs in the steps than before them: a program may do something else for longer, in which nothing marks
// steps. Slow first steps, which compile and tune, are steps.
bool steps_are_most_of_the_work(const Facts& facts);

// If steps with enough kernels are known, and they are most of the work: without the leading steps that take more than
// twice the median. Otherwise the busy part, unless the program merely paused. Otherwise from the first device op to the last.
struct SteadyPart {
    Interval part;
    static SteadyPart make(const Facts& facts);
};

// The part that the summary covers if it is less than the whole: the steady part, unless it is most of the window.
std::optional<Interval> interval_for_first_answer(const Facts& facts);

}  // namespace gpuprof::facts
