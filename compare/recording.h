// One recording before anything is cut from it, and what its steps are by each method that finds any. Two recordings are
// compared by steps that were found alike: by the best method that works on both. Steps found differently, or on one side
// only, would divide the two by different things.
//
// In the order of trust: ranges of the host (of one family of names on both sides); what these launched, as the device ran it,
// when the host of a side runs ahead; a sequence of kernels that repeats on both sides, when the kernel that marks it comes
// equally often in the steps of both. A range that the user names is not replaced by kernels.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/step_finder.h"
#include "core/model/trace.h"

namespace gpuprof::compare {

class Recording {
public:
    Recording(Trace trace, const Options& options);

    const Trace& trace() const { return *trace_; }
    const Facts& facts() const { return *facts_; }
    // Found on first use and kept.
    const Steps& steps(StepMethod method);
    // Device work after the last range step, in percent of all, when it is so much that the lengths of these steps are those
    // of submitting work.
    std::optional<double> backlog_pct();
    // Give what was read away, the facts that are known of it too; nothing else may be asked afterwards.
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
