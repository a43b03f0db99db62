// Who holds the job up, and what it costs. A unit (a rank, a host, a group's links, or one kind of delay wherever it
// appears) is priced by replays: `cost` is what the job would gain today if only this unit were as its peers are,
// `alone` what it would cost if all other named units were fixed. Both are needed: a slow GPU costs nothing behind a
// slower host, and will as soon as that one is fixed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "ranks/price/straggler.h"

namespace gpuprof::inline ranks {

struct Stragglers {
    std::vector<Straggler> units;        // by cost, then by alone; named ones first
    double step_ns = 0;                  // mean length of a step in the replay of the recording
    double ideal_ns = 0;                 // the same if every rank and every transfer were as its peers'
    std::vector<DurNs> recorded, ideal;  // by step
    std::vector<std::size_t> counted;    // indices of the steps that prices are based on
    double actual_ns = 0;                // mean step as recorded: with the gaps that count as zero in replays
    double absent_ns = 0;                // of a step: what ranks may have waited for such without a recording of it
    std::string reason;                  // why there are no prices; empty if there are

    static Stragglers make(const Facts& facts);
};

}  // namespace gpuprof::ranks
