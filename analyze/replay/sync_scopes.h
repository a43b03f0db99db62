// What a call that synchronises waits for: one stream, the part of it before an event, or all streams of its process.
#pragma once

#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline replay {

// Ops of a stream that were issued before a time.
struct SyncScope {
    std::int64_t stream = -1;
    TimeNs issued_before = std::numeric_limits<TimeNs>::max();
};

class SyncScopes {
public:
    explicit SyncScopes(const Trace& trace);
    // Whether the call waits for the whole device: cudaDeviceSynchronize, cuCtxSynchronize.
    bool whole_device(StringId name) const { return name != kNoString && device_[index_of(name)]; }
    // What the recording says it waited for.
    std::optional<SyncScope> of(Row call) const;

private:
    struct Recorded {
        StringId process;
        std::int64_t correlation;
        SyncScope scope;
        auto key() const { return std::pair(process, correlation); }
    };
    const Trace& trace_;
    std::vector<bool> device_;  // by string
    std::vector<Recorded> recorded_;
};

}  // namespace gpuprof::replay
