// The loop: warm-up, estimate, batch size, samples until a rule says stop, Measurement. Several functions are sampled
// in turn, forwards and backwards (ABBA), so that drift affects all of them equally; their i-th samples form a pair,
// and sampling stops when the ratios to the first are known. The harness does its own work between the samples.
#pragma once

#include <span>
#include <vector>

#include "measure/device_state.h"
#include "measure/measurement.h"
#include "measure/timer.h"

namespace gpuprof::measure {

struct RunOptions {
    StoppingOptions stopping;
    WarmupOptions warmup;
    std::int64_t batch = 0;              // calls per sample; 0: determined automatically
    bool keep_throttled = false;         // count samples under throttled clocks
    std::optional<double> bytes, flops;  // per call
    MathPath flops_as;                   // number format of the peak for FLOP/s; unknown: none
};

// Returns one measurement per work, in order. `state` may be empty. Works must not move until this returns.
Result<std::vector<Measurement>> run(std::span<const Work> works, Timer& timer, const ReadState& state,
                                     const RunOptions& options);

}  // namespace gpuprof::measure
