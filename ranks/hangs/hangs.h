// Where a job hangs: the collectives that some of their ranks called and not all completed, by the dumps of its flight
// recorders. A rank is missing in a collective if its own calls in that group end before it. No times are compared.
//
// A collective may only wait for another one: its missing rank sits there. Such rows point at each other (`waits_for`),
// and those that nothing recorded explains are the roots. A rank is not blamed without evidence: one without a dump is
// `no_dump`, and one whose calls may have left the recorder's buffer is `unknown`.
//
// Sends and receives have no number in common. An open one whose other end has no open counterpart (counted in order)
// waits for that rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ranks/hangs/hang.h"

namespace gpuprof::inline ranks {

struct Hangs {
    RankCalls calls;
    std::vector<Hang> rows;             // roots first, those that most wait for before others
    std::vector<std::size_t> in_cycle;  // the rows of one cycle, in order, if there is a root of that cause

    // The last call of a rank; null if its dump has none.
    const RankCall* last_of(std::int32_t rank) const;
    static Hangs make(const Facts& facts);
};

}  // namespace gpuprof::ranks
