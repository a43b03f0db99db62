// Each rank's own work until each of its collectives, without waits. Ranks that waited at other places can be compared by
// it. Private to peers.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ranks/price/replay.h"

namespace gpuprof::inline ranks {

class RankWork {
public:
    RankWork(const Job& job, const JobTimes& recorded);

    // From the arrival at one collective of a rank to that at a later one; `from` = kNone: since its step began. Absent if
    // one of them was not counted from the same beginning.
    std::optional<DurNs> between(std::uint32_t from, std::uint32_t collective) const;

private:
    struct Until {
        std::uint32_t since;  // the first collective that counts from the same beginning
        DurNs done;
    };
    const Job& job_;
    std::vector<Until> until_;  // by collective
};

}  // namespace gpuprof::ranks
