// The framework operator that launched a kernel: the one its external id names, or else the innermost operator open on the
// launching thread at launch.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyze/facts/idle/host_timeline.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

class OpOfKernel {
public:
    explicit OpOfKernel(const Trace& trace);
    // The row in `op`, or kNoRow.
    Row find(Row kernel);

private:
    using Key = std::pair<std::uint32_t, std::int64_t>;  // process, external id
    Row open_at_launch(Row kernel);

    const Trace& trace_;
    HostTimeline timeline_;
    std::map<Key, Row> by_id_;
    std::unordered_map<std::uint32_t, HostThread> threads_;  // by key
};

}  // namespace gpuprof::facts
