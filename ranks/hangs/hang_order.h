// The roots among hangs, and their order.
#pragma once

#include <cstddef>
#include <vector>

#include "ranks/hangs/hang.h"

namespace gpuprof::inline ranks {

// Marks roots and cycles, counts dependents, sorts the rows and renumbers what refers to them. The result is the first
// cycle; empty if there is none.
std::vector<std::size_t> order_hangs(std::vector<Hang>& rows);

}  // namespace gpuprof::ranks
