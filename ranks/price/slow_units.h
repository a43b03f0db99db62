// Units that may hold a job up: those that need more time than their peers. Whether that costs anything is for the
// replays of stragglers.h. Private to stragglers.cc.
#pragma once

#include <vector>

#include "analyze/facts/facts.h"
#include "ranks/price/straggler.h"

namespace gpuprof::inline ranks {

// What a unit is fixed by: the collectives that get their peers' times.
struct SlowUnit {
    Straggler unit;
    std::vector<std::uint32_t> own;       // JobTimes::own becomes the peers'
    std::vector<std::uint32_t> transfer;  // JobTimes::transfer becomes that of equal ones
};

// `step_ns`: the length of a step, in whose share delays are measured.
std::vector<SlowUnit> slow_units(const Facts& facts, double step_ns);

}  // namespace gpuprof::ranks
