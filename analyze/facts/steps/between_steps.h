// What a program does between its steps: saving, evaluating, logging. Only if ranges mark the steps: steps that are found
// from kernels, or that a profiler counts, follow each other without a gap. Not if the ranges mark only a part of steps.
#pragma once

#include <string>

#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct BetweenSteps {
    // On the thread of the steps; without pauses that are too short to matter, or in which it fetches input or sleeps until
    // somebody asks. By start. The same work after the last step counts as well.
    IntervalSet stretches;
    // How long device work of steps stands still for them, from the end of the work launched before to the start of the
    // first kernel launched after. The sum of all stretches; of it, kernels run and copies alone do.
    DurNs exposed = 0, kernels = 0, copies = 0;
    DurNs copied_to_host = 0;  // of copies, in or outside `exposed`
    std::string name;          // of the range or Python function that takes most of it; "" if none does
    std::size_t steps = 0;     // of the program
    static BetweenSteps make(const Facts& facts);
};

}  // namespace gpuprof::facts
