// Kernels that send to several ranks and receive from several (`batch_isend_irecv` around a ring), and how each waits:
// for the ranks that it exchanges with, not for those that these exchange with. So each is an instance of its own, of
// which the others are members. Private to match.cc.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/analyze/ranks/job.h"

namespace gpuprof {

class Exchanges {
public:
    explicit Exchanges(const RankJob& job) : job_(job) {}

    // Two syncs that have one transfer in common.
    void link(std::uint32_t a, std::uint32_t b);

    struct Members {
        std::vector<std::uint32_t> syncs;  // the first one's partners are the others
        bool complete = false;             // each of its transfers was found on the other rank too
        bool pair = false;  // each of two is the only partner of the other: one instance, as of any other pair
    };
    // By their first sync. Call once, after all links.
    std::vector<Members> find();

private:
    const RankJob& job_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;  // in both directions, once for each transfer
};

}  // namespace gpuprof
