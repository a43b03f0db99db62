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

    // From where a rank waits for one of its collectives to the arrival at another one, or to where it waits for that;
    // `from` = kNone: since its step began. Absent if one of them was not counted from the same beginning.
    std::optional<DurNs> to_arrival(std::uint32_t from, std::uint32_t collective) const {
        return between(from, arrival_[collective]);
    }
    std::optional<DurNs> to_wait(std::uint32_t from, std::uint32_t collective) const {
        return between(from, wait_[collective]);
    }

private:
    struct Until {
        std::uint32_t since = kNone;  // the first collective that counts from the same beginning
        std::int64_t step = -1;       // its own
        DurNs done = 0;
    };
    std::optional<DurNs> between(std::uint32_t from, const Until& until) const;

    const Job& job_;
    std::vector<Until> arrival_, wait_;  // by collective
};

}  // namespace gpuprof::ranks
