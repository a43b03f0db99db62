// Kernels of sends and receives, and how each waits. One that sends to several ranks or receives from several
// (`batch_isend_irecv` around a ring) waits for these, not for those that these exchange with. So each is an instance of
// its own, of which the others are members. Private to match.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ranks/job/job.h"

namespace gpuprof::inline ranks {

class Exchanges {
public:
    explicit Exchanges(const Job& job) : job_(job) {}

    // Two collectives that have one transfer in common.
    void link(std::uint32_t a, std::uint32_t b);

    // `members`: a collective and its partners. `complete`: each of its transfers was found on the other rank too. `pair`: each of
    // two is the only partner of the other; they are visited once.
    using Visit = std::function<void(std::span<const std::uint32_t> members, bool complete, bool pair)>;
    // By first collective. Call after all links.
    void each(const Visit& visit);

private:
    using Link = std::pair<std::uint32_t, std::uint32_t>;
    bool is_complete(std::span<const Link> links) const;

    const Job& job_;
    std::vector<Link> links_;  // in both directions, once for each transfer
};

}  // namespace gpuprof::ranks
