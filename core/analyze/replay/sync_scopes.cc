#include "core/analyze/replay/sync_scopes.h"

#include <algorithm>

#include "core/model/submission.h"

namespace gpuprof {

SyncScopes::SyncScopes(const Trace& trace) : trace_(trace), device_(trace.strings().size()) {
    for (std::size_t i = 0; i < device_.size(); ++i) {
        std::string_view what = bare_call_name(trace.strings()[StringId{static_cast<std::uint32_t>(i)}]);
        device_[i] = what.starts_with("DeviceSynchronize") || what.starts_with("CtxSynchronize");
    }
    const SyncTable& syncs = trace.tables().sync;
    for (Row row = 0; row < syncs.rows; ++row)
        if (syncs.correlation.has(row) && syncs.stream.has(row) && syncs.stream[row] >= 0)
            stream_.push_back({syncs.correlation[row], syncs.stream[row]});
    std::sort(stream_.begin(), stream_.end());
}

std::optional<std::int64_t> SyncScopes::stream(Row call) const {
    if (stream_.empty() || !trace_.api_call().correlation.has(call)) return std::nullopt;
    std::int64_t id = trace_.api_call().correlation[call];
    auto found = std::lower_bound(stream_.begin(), stream_.end(), std::pair(id, std::int64_t{0}));
    if (found == stream_.end() || found->first != id) return std::nullopt;
    return found->second;
}

}  // namespace gpuprof
