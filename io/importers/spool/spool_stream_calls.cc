#include "io/importers/spool/spool_stream_calls.h"

#include <algorithm>

#include "io/importers/spool/cupti_names.h"

namespace gpuprof::inline importers {
namespace {

using spool::StreamCall;
using spool::StreamCallKind;

// CUpti_ActivitySynchronizationType; 0: the call is no synchronisation.
std::int64_t sync_type(StreamCallKind kind) {
    switch (kind) {
        case StreamCallKind::sync_event: return 1;
        case StreamCallKind::wait_event: return 2;
        case StreamCallKind::sync_stream: return 3;
        case StreamCallKind::record_event:
        case StreamCallKind::begin_capture:
        case StreamCallKind::end_capture: break;
    }
    return 0;
}

}  // namespace

// Follows captures and recorded events; returns whether the call goes into a graph. A stream joins a capture by waiting
// for an event that was recorded in it (CUDA programming guide, "Cross-stream dependencies and events").
bool SpoolStreamCalls::captured(const StreamCall& call) {
    Stream stream{call.context, call.stream};
    auto capture = call.stream == StreamCall::kNoStream ? capturing_.end() : capturing_.find(stream);
    std::optional<Stream> of = capture == capturing_.end() ? std::nullopt : std::optional(capture->second);
    auto event = call.event == 0 ? recorded_.end() : recorded_.find(call.event);
    switch (call.kind) {
        case StreamCallKind::begin_capture: capturing_[stream] = stream; break;
        case StreamCallKind::end_capture:
            std::erase_if(capturing_, [&](const auto& each) { return each.second == stream; });
            break;
        case StreamCallKind::record_event: recorded_[call.event] = {call.stream, call.correlation, of}; break;
        case StreamCallKind::wait_event:
            if (of || event == recorded_.end() || !event->second.capture) break;
            of = event->second.capture;
            capturing_[stream] = *of;
            break;
        case StreamCallKind::sync_event:
        case StreamCallKind::sync_stream: break;
    }
    return of.has_value();
}

void SpoolStreamCalls::add_row(Batch& batch, const StreamCall& call, StringId process,
                               const std::function<std::optional<Row>(std::uint32_t)>& call_of) {
    SyncTable& table = batch.tables.sync;
    auto [known, added] = known_.try_emplace(call.correlation, static_cast<Row>(table.rows));
    Row row = added ? table.add() : known->second;
    bool enqueued = call.kind == StreamCallKind::wait_event;
    if (added) {
        const ApiCallTable& calls = batch.tables.api_call;
        std::optional<Row> api = call_of(call.correlation);
        TimeNs start = api ? calls.start[*api] : static_cast<TimeNs>(call.time);
        DurNs dur = api ? calls.dur[*api] : static_cast<DurNs>(call.end - call.time);
        table.start.set(row, start);
        table.dur.set(row, enqueued ? 0 : dur);
        table.process.set(row, process);
        table.context.set(row, static_cast<std::int32_t>(call.context));
        table.kind.set(row, batch.intern(cuda::sync_kind(sync_type(call.kind))));
        table.correlation.set(row, call.correlation);
    }
    if (call.stream != StreamCall::kNoStream) table.stream.set(row, call.stream);
    auto event = call.event == 0 ? recorded_.end() : recorded_.find(call.event);
    if (event == recorded_.end() || event->second.capture) return;
    if (event->second.stream != StreamCall::kNoStream) table.wait_on_stream.set(row, event->second.stream);
    table.wait_on_correlation.set(row, event->second.correlation);
}

void SpoolStreamCalls::finish(Batch& batch, Row first, StringId process,
                              const std::function<std::optional<Row>(std::uint32_t)>& call_of) {
    SyncTable& table = batch.tables.sync;
    if (calls_.empty()) return;
    for (Row row = first; row < table.rows; ++row)
        known_.try_emplace(static_cast<std::uint32_t>(table.correlation[row]), row);
    // The file has them by thread.
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const StreamCall& a, const StreamCall& b) { return a.time < b.time; });
    for (const StreamCall& call : calls_)
        if (!captured(call) && sync_type(call.kind) != 0) add_row(batch, call, process, call_of);
    table.close();
}

}  // namespace gpuprof::importers
