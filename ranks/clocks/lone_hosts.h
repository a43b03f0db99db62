// Hosts that nothing can be compared with: all ranks that do the same, as those of a stage of a pipeline, are on one host.
// If that is slow, all peers are slow alike.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/facts/facts.h"

namespace gpuprof::inline ranks {

struct LoneHost {
    std::uint32_t host = 0;  // index in JobHosts::hosts
    // Per step: how much longer its devices are idle for the host than those of other roles, at least.
    double more_ns = 0;
};

// The one with the most; absent if there is none or only one host.
std::optional<LoneHost> lone_host(const Facts& facts);

}  // namespace gpuprof::ranks
