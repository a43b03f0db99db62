// How fast each rank's kernels are, compared with the same kernels of the others.
#pragma once

#include <cstdint>
#include <map>

#include "analyze/facts/facts.h"

namespace gpuprof::inline ranks {

struct KernelRatio {
    double compared = 0;  // share of the rank's kernel time in kernels that others run with the same grid and block
    double slower = 0;    // share of the compared time in kernels that are at least 3 % slower than the median rank's
    double ratio = 1;     // median of its kernels' ratios to the median rank's, weighted by time
};

// By number of the rank.
struct KernelRatios {
    std::map<std::int32_t, KernelRatio> ranks;
    static KernelRatios make(const Facts& facts);
};

}  // namespace gpuprof::ranks
