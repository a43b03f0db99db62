// The iterations of a program, found in the order of how sure one can be: ranges named ProfilerStep#N; the instances of the
// range or operator the user names; ranges whose name ends in "step", "iteration" or "iter" and that repeat on one thread;
// a sequence of kernels that repeats on one stream. Finds none rather than doubtful ones, and says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/base/ids.h"

namespace gpuprof {

struct Step {
    std::string name;
    TimeNs start = 0;
    TimeNs end = 0;
};

struct Steps {
    std::vector<Step> steps;                // by start, disjoint
    StringId thread = kNoString;            // whose ranges they are; none when they come from kernels
    static Steps make(const Facts& facts);  // as find_steps()
    std::string note;                       // how they were found when that needs saying, or why there are none
};

Steps find_steps(const Facts& facts);

// Whether a range of this name is an iteration by its name alone: "training_step", "Iteration 7", but not "optimizer_step".
bool names_a_step(std::string_view name);

// The part of find_steps() that looks at kernels alone.
Steps find_repeated_kernels(const Facts& facts);

}  // namespace gpuprof
