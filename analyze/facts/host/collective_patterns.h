// Collectives that an expert would send differently: many small ones in a row, and gradients in FP32 beside products in 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

struct CollectivePatterns {
    // A run: collectives of a stream that follow one another with nothing between them that could need their result or produce their
    // input, other than elementwise kernels (the division by the number of ranks).
    struct Small {
        std::size_t count = 0, runs = 0;
        DurNs exposed = 0;         // with no other kernel in flight
        DurNs saved = 0;           // of that, without the longest of each run
        std::int64_t largest = 0;  // bytes
        Row example = kNoRow;      // a kernel
    };
    Small small;    // of sizes that take as long as an empty message
    Small unsized;  // short ones, whose sizes were not recorded
    struct Gradients {
        std::size_t count = 0;
        DurNs exposed = 0;  // transfers alone
        Row longest = kNoRow;
    };
    Gradients full_precision;     // reductions in FP32 of what may be gradients, if most products are in 16 bits
    DurNs exposed_transfers = 0;  // of all collectives that are known not to wait for a late rank

    // Whether one of these explains most of the transfers that nothing hides.
    bool explained_by_size() const { return 2 * small.exposed > exposed_transfers; }
    bool explained_by_type() const { return 4 * full_precision.exposed > 3 * exposed_transfers; }
    static CollectivePatterns make(const Facts& facts);
};

// "ncclDevKernel_AllReduce...: all_reduce of 4.00 KiB by 8 ranks"; "" without a record.
std::string collective_line(const Facts& facts, Row kernel);

}  // namespace gpuprof::facts
