// Kernels that send to several ranks and receive from several (`batch_isend_irecv` around a ring), and how each waits:
// for the ranks that it exchanges with, not for those that these exchange with. So each is an instance of its own, of
// which the others are members. Private to match.cc.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/analyze/ranks/match.h"

namespace gpuprof {

class Exchanges {
public:
    explicit Exchanges(const RankJob& job) : job_(job) {}

    // Two syncs that have one transfer in common.
    void link(std::uint32_t a, std::uint32_t b);
    // Adds their instances: of two syncs that exchange with each other only, one, as of any other pair.
    void add_to(MatchedJob& matched);

private:
    const RankJob& job_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;  // in both directions, once for each transfer
};

}  // namespace gpuprof
