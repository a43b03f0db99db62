#include "analyze/replay/stream_events.h"

#include <algorithm>
#include <optional>

#include "analyze/replay/call_times.h"
#include "core/model/build/submission.h"

namespace gpuprof::inline replay {
namespace {

constexpr std::uint64_t kMinOccurrences = 3;
constexpr std::size_t kMaxPairedStreams = 16;  // pairs of more streams than this are not tried
constexpr DurNs kRightAfter = 20'000;          // from the end of one op to the start of the one that waited for it

enum class EventCall : std::uint8_t { unread, none, record, wait };

EventCall event_call(std::string_view name) {
    std::string_view what = bare_call_name(name);
    if (what.starts_with("EventRecord")) return EventCall::record;
    if (what.starts_with("StreamWaitEvent")) return EventCall::wait;
    return EventCall::none;
}

// A wait call, and the time of the event's record.
struct Occurrence {
    TimeNs recorded, waited;
};

// The last event that each waiting thread recorded before.
std::vector<Occurrence> occurrences(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    std::vector<EventCall> kinds(trace.strings().size(), EventCall::unread);
    std::map<StringId, TimeNs> recorded;
    std::vector<Occurrence> found;
    for (Row row = 0; row < calls.rows; ++row) {
        StringId name = calls.name.value_or(row, kNoString);
        if (name == kNoString) continue;
        EventCall& kind = kinds[index_of(name)];
        if (kind == EventCall::unread) kind = event_call(trace.text(name));
        if (kind == EventCall::none) continue;
        StringId thread = calls.thread.value_or(row, kNoString);
        if (kind == EventCall::record) {
            recorded[thread] = calls.start[row];
        } else if (auto event = recorded.find(thread); event != recorded.end()) {
            found.push_back({event->second, calls.start[row]});
        }
    }
    return found;
}

const IssuedOp* last_before(const std::vector<IssuedOp>& ops, TimeNs time) {
    auto after =
        std::lower_bound(ops.begin(), ops.end(), time, [](const IssuedOp& op, TimeNs t) { return op.issued < t; });
    return after == ops.begin() ? nullptr : &after[-1];
}

const IssuedOp* first_from(const std::vector<IssuedOp>& ops, TimeNs time) {
    auto found =
        std::lower_bound(ops.begin(), ops.end(), time, [](const IssuedOp& op, TimeNs t) { return op.issued < t; });
    return found == ops.end() ? nullptr : &*found;
}

struct PairEvidence {
    std::uint64_t count = 0, right_after = 0;
    bool contradicted = false;
};

PairEvidence weigh(const std::vector<Occurrence>& all, const std::vector<IssuedOp>& a, const std::vector<IssuedOp>& b) {
    PairEvidence evidence;
    for (const Occurrence& each : all) {
        const IssuedOp *before = last_before(a, each.recorded), *after = first_from(b, each.waited);
        if (before == nullptr || after == nullptr) continue;
        ++evidence.count;
        if (after->start < before->end) {
            evidence.contradicted = true;
            return evidence;
        }
        bool queued = after->issued < before->end;
        evidence.right_after += queued && after->start - before->end <= kRightAfter;
    }
    return evidence;
}

StreamWaits infer(const Trace& trace, const std::vector<std::vector<IssuedOp>>& ops) {
    StreamWaits found;
    std::vector<Occurrence> all = occurrences(trace);
    if (all.empty() || ops.size() > kMaxPairedStreams) {
        found.unsure = all.size();
        return found;
    }
    for (std::size_t a = 0; a < ops.size(); ++a)
        for (std::size_t b = 0; b < ops.size(); ++b) {
            if (a == b) continue;
            PairEvidence evidence = weigh(all, ops[a], ops[b]);
            if (evidence.contradicted || evidence.right_after == 0) continue;
            if (evidence.count < kMinOccurrences) {
                found.unsure += evidence.count;
                continue;
            }
            for (const Occurrence& each : all)
                found.waits.push_back(
                    {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), each.recorded, each.waited});
            found.inferred += evidence.count;
        }
    return found;
}

// Waits that the recording has with their streams; nothing if it has none. A wait of a stream for itself, or for one without work, orders
// nothing.
std::optional<StreamWaits> recorded_waits(const Trace& trace, const std::vector<ReplayStream>& streams) {
    const SyncTable& syncs = trace.tables().sync;
    if (syncs.stream.none_present() || syncs.wait_on_stream.none_present()) return std::nullopt;
    auto index = [&](Row row, const Column<std::int64_t>& column) -> std::optional<std::uint16_t> {
        StringId process = syncs.process.value_or(row, kNoString);
        std::int32_t context = syncs.context.value_or(row, -1);
        auto at = std::find_if(streams.begin(), streams.end(), [&](const ReplayStream& each) {
            bool same_context = context < 0 || each.context < 0 || each.context == context;
            return each.process == process && same_context && each.stream == column[row];
        });
        if (at == streams.end()) return std::nullopt;
        return static_cast<std::uint16_t>(at - streams.begin());
    };
    CallTimes times(trace.api_call());
    std::optional<StreamWaits> found;
    for (Row row = 0; row < syncs.rows; ++row) {
        if (!syncs.stream.has(row) || !syncs.wait_on_stream.has(row)) continue;
        StringId process = syncs.process.value_or(row, kNoString);
        std::optional<TimeNs> waited = times.of(process, syncs.correlation, row),
                              event = times.of(process, syncs.wait_on_correlation, row);
        if (!waited || !event) continue;
        if (!found) found.emplace();
        auto from = index(row, syncs.wait_on_stream), to = index(row, syncs.stream);
        if (!from || !to || *from == *to) continue;
        found->waits.push_back({*from, *to, *event, *waited});
        ++found->recorded;
    }
    return found;
}

}  // namespace

bool has_stream_waits(const Trace& trace) {
    for (std::size_t i = 0; i < trace.strings().size(); ++i)
        if (event_call(trace.strings()[StringId{static_cast<std::uint32_t>(i)}]) == EventCall::wait) return true;
    return false;
}

StreamWaits find_stream_waits(const Trace& trace, const std::vector<ReplayStream>& streams,
                              const std::vector<std::vector<IssuedOp>>& ops) {
    std::optional<StreamWaits> recorded = recorded_waits(trace, streams);
    StreamWaits found = recorded ? *std::move(recorded) : infer(trace, ops);
    std::stable_sort(found.waits.begin(), found.waits.end(),
                     [](const StreamWait& a, const StreamWait& b) { return a.waited < b.waited; });
    return found;
}

}  // namespace gpuprof::replay
