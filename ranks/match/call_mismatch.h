// Whether calls that one number brings together are one collective. Ranks that call different ones, in another order or
// with other sizes, hang or compute nonsense.
#pragma once

#include <string>
#include <vector>

#include "ranks/reduce/calls.h"

namespace gpuprof::inline ranks {

// Of the calls of a group with one number, by rank and in order: who differs, as a sentence without an end; "" if nobody
// does. Sizes are compared where they must be equal: not for gathers, scatters, and all-to-alls.
std::string mismatch_of(const std::vector<const RankCall*>& calls);

// Of a send and its receive; "" unless both are there and differ.
std::string mismatch_of_pair(const std::vector<const RankCall*>& ends);

}  // namespace gpuprof::ranks
