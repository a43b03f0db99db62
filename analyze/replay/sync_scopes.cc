#include "analyze/replay/sync_scopes.h"

#include <algorithm>

#include "analyze/replay/call_times.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline replay {

SyncScopes::SyncScopes(const Trace& trace) : trace_(trace), device_(trace.strings().size()) {
    for (std::size_t i = 0; i < device_.size(); ++i) {
        std::string_view what = bare_call_name(trace.strings()[StringId{static_cast<std::uint32_t>(i)}]);
        device_[i] = what.starts_with("DeviceSynchronize") || what.starts_with("CtxSynchronize");
    }
    const SyncTable& syncs = trace.tables().sync;
    if (syncs.rows == 0) return;
    CallTimes times(trace.api_call());
    for (Row row = 0; row < syncs.rows; ++row) {
        if (!syncs.correlation.has(row)) continue;
        StringId process = syncs.process.value_or(row, kNoString);
        // A wait of a stream for an event has both streams; it is no call that waits.
        std::optional<TimeNs> event = times.of(process, syncs.wait_on_correlation, row);
        if (syncs.stream.has(row) && syncs.stream[row] >= 0)
            recorded_.push_back({process, syncs.correlation[row], {syncs.stream[row]}});
        else if (event && syncs.wait_on_stream.has(row))
            recorded_.push_back({process, syncs.correlation[row], {syncs.wait_on_stream[row], *event}});
    }
    std::stable_sort(recorded_.begin(), recorded_.end(),
                     [](const Recorded& a, const Recorded& b) { return a.key() < b.key(); });
}

std::optional<SyncScope> SyncScopes::of(Row call) const {
    const ApiCallTable& calls = trace_.api_call();
    if (recorded_.empty() || !calls.correlation.has(call)) return std::nullopt;
    std::pair key(calls.process.value_or(call, kNoString), calls.correlation[call]);
    auto found = std::lower_bound(recorded_.begin(), recorded_.end(), key,
                                  [](const Recorded& each, const auto& wanted) { return each.key() < wanted; });
    if (found == recorded_.end() || found->key() != key) return std::nullopt;
    return found->scope;
}

}  // namespace gpuprof::replay
