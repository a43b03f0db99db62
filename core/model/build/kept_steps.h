// The steps that a recording kept (record --keep-slow, --trigger), as facts of the table `meta`. Between them nothing was
// recorded. Times are those of the recording's clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/interval.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

struct KeptStepFact {
    std::uint64_t number = 0;  // in its thread, from 1
    Interval span;             // of the annotation, on the host
    DurNs duration = 0;
    DurNs median = 0;   // of the steps before it; 0: unknown
    DurNs missing = 0;  // of its beginning
    bool warm_up = false, unfinished = false;
    std::string thread;  // "" if the process has steps on one thread only
};

// The value of meta_key::kKeptStep, and the reverse; absent if it is none.
std::string encode_kept_step(const KeptStepFact& step);
std::optional<KeptStepFact> decode_kept_step(std::string_view value);

// "step 812 (93.1 ms, 1.86x the median)"
std::string kept_step_text(const KeptStepFact& step);

// By duration, those of the warm-up last.
void sort_slowest_first(std::vector<KeptStepFact>& steps);

// The kept steps that overlap the recording's window, slowest first, those of the warm-up last.
std::vector<KeptStepFact> kept_steps(const Trace& trace);

}  // namespace gpuprof::model
