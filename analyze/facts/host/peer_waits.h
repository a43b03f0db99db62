// How much of the time of collectives is transfer, and how much is waiting for a rank that comes late. The kernel of a collective begins
// when its own rank has come, and ends when the last one has: on one rank, a late rank looks like a slow transfer.
//
// Two things tell them apart. Siblings: a collective of the same kind, group and size that took less time shows what the transfer
// takes; so does a larger one, and a smaller one in proportion. Without a size, those at the same place in other steps are siblings.
// The link: without a faster sibling, a rate that only a slow network has may be either, and is doubtful.
#pragma once

#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline facts {

class Facts;

struct PeerWaits {
    struct Collective {
        Row kernel;
        DurNs transfer = 0, wait = 0;  // add up to its duration
        DurNs fast_transfer = 0;       // at most `transfer`: what a fast link needs
        DurNs least_transfer = 0;      // the same, unless other collectives show that the rest is no wait
        bool doubtful = false;         // transfer or wait: the recording does not tell
    };
    std::vector<Collective> collectives;  // by row of its kernel
    std::size_t late = 0;                 // collectives that waited for a rank
    DurNs longest_wait = 0;
    // Time with no other kernel in flight, summed over devices.
    DurNs exposed_wait = 0, exposed_doubtful = 0;

    // Null if the kernel is no collective.
    const Collective* find(Row kernel) const;
    static PeerWaits make(const Facts& facts);
};

}  // namespace gpuprof::facts
