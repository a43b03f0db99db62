// Waiting and transfer at each collective: a rank waits until the last one has arrived; what follows is the transfer.
// Waits between hosts are only as good as their clocks: below three times their error they count as nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/base/ids.h"

namespace gpuprof {

struct RankWaits {
    std::vector<DurNs> wait;          // by sync: last arrival - its own; 0 below the clocks' error
    std::vector<DurNs> lateness;      // by instance: last arrival - second to last: what its waiting would shrink by
    std::vector<std::uint32_t> last;  // by instance: the sync that arrived last; kNone below the clocks' error

    static RankWaits make(const Facts& facts);
};

}  // namespace gpuprof
