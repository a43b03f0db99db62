// What the thread of an engine does in each iteration, by the engine's own ranges, else by its Python functions.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "analyze/facts/steps/iterations.h"

namespace gpuprof::inline facts {

struct HostParts {
    std::array<std::optional<DurNs>, kServingParts> parts;
    std::optional<DurNs> wait;  // in calls that wait for the device
    std::optional<DurNs> of(ServingPart part) const { return parts[static_cast<std::size_t>(part)]; }
};

// Of each iteration of Iterations::all. Scheduling belongs to the iteration that begins after it, all else to the one before.
struct EngineHost {
    std::vector<HostParts> parts;
    static EngineHost make(const Facts& facts);
};

}  // namespace gpuprof::facts
