// One recording before anything is cut from it, and its steps by each method that finds any. Two recordings are
// compared by steps found with the same method: the best one that works on both. Steps found differently, or on one
// side only, would divide the two by different things.
//
// In order of preference: host ranges (of one family of names on both sides); the device work that these launched, if
// the host of a side runs ahead; a sequence of kernels that repeats on both sides, if the kernel that marks it is
// equally frequent in the steps of both. Kernels never replace a range that the user names.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyze/facts/facts.h"
#include "analyze/facts/steps/step_finder.h"
#include "core/model/trace.h"

namespace gpuprof::compare {

class Recording {
public:
    Recording(Trace trace, const Options& options);

    const Trace& trace() const { return *trace_; }
    const Facts& facts() const { return *facts_; }
    // Found on first use and cached.
    const Steps& steps(StepMethod method);
    // Device work that ran after the range step that submitted it, in percent; set only if the durations of these steps
    // say how fast work is submitted, not how fast it is done.
    std::optional<double> backlog_pct();
    // Give away the trace and its facts; nothing else may be called afterwards.
    Trace take();
    std::pair<std::unique_ptr<Trace>, std::unique_ptr<Facts>> take_with_facts();

private:
    std::unique_ptr<Trace> trace_;
    std::unique_ptr<Facts> facts_;
    std::array<std::optional<Steps>, 4> steps_;  // by StepMethod
};

struct StepChoice {
    StepMethod method = StepMethod::none;
    std::string because;  // why there are no steps, or why not those of the host
};

StepChoice choose_steps(Recording& only);
StepChoice choose_steps(Recording& base, Recording& next);

}  // namespace gpuprof::compare
