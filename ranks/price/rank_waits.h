// Waiting and transfer at each collective: a rank waits until the last one has arrived; what follows is the transfer.
// Waits between hosts are only as good as their clocks: below three times their error they count as nothing, and of times
// that cannot be compared nothing is known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"

namespace gpuprof::inline ranks {

struct RankWaits {
    std::vector<DurNs> wait;  // by collective: last arrival - its own; 0 below the clocks' error
    std::vector<bool> known;  // by collective: whether its time could be compared with that of another rank
    // By instance: last arrival - second to last, by which waiting would shrink; 0 below the clocks' error; absent if
    // nothing could be compared.
    std::vector<std::optional<DurNs>> lateness;
    std::vector<std::uint32_t> last;  // by instance: the collective that arrived last; kNone below the clocks' error

    // Of the time in matched collectives, the part in which a rank may have waited for others whose clocks cannot be
    // compared with its own: the replay knows nothing of such waits.
    double incomparable = 0;

    static RankWaits make(const Facts& facts);
};

}  // namespace gpuprof::ranks
