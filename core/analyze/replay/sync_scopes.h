// What a call that synchronises waits for: one stream, or all streams of its process.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

class SyncScopes {
public:
    explicit SyncScopes(const Trace& trace);
    // Whether the call waits for the whole device: cudaDeviceSynchronize, cuCtxSynchronize.
    bool whole_device(StringId name) const { return name != kNoString && device_[index_of(name)]; }
    // The stream that the recording says it waited for.
    std::optional<std::int64_t> stream(Row call) const;

private:
    const Trace& trace_;
    std::vector<bool> device_;                                   // by string
    std::vector<std::pair<std::int64_t, std::int64_t>> stream_;  // correlation, stream
};

}  // namespace gpuprof
