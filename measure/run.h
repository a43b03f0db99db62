// The loop: warm-up, estimate, batch size, samples until a rule says stop, Measurement. Several functions are sampled in
// turn, forwards and backwards (ABBA), so that whatever drifts meets all of them alike; their i-th samples belong together, and
// sampling stops when the ratios to the first are known.
// Everything the harness itself does lies between the samples.
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
    std::int64_t batch = 0;              // calls per sample; 0: found out
    bool keep_throttled = false;         // samples under held-down clocks count
    std::optional<double> bytes, flops;  // of one call
    MathPath flops_as;                   // whose peak the FLOP/s are held against; unknown: none
};

// One measurement per work, in their order. `state` may be empty. Works must stay where they are until this returns.
Result<std::vector<Measurement>> run(std::span<const Work> works, Timer& timer, const ReadState& state,
                                     const RunOptions& options);

}  // namespace gpuprof::measure
