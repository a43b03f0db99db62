#include "analyze/replay/recorded_waits.h"

#include <algorithm>
#include <optional>

#include "core/model/build/submission.h"

namespace gpuprof::inline replay {
namespace {

// When calls began, by process and correlation id.
class CallTimes {
public:
    explicit CallTimes(const ApiCallTable& calls) {
        for (Row row = 0; row < calls.rows; ++row)
            if (calls.correlation.has(row))
                times_.emplace_back(calls.process.value_or(row, kNoString), calls.correlation[row], calls.start[row]);
        std::sort(times_.begin(), times_.end());
    }
    std::optional<TimeNs> of(StringId process, const Column<std::int64_t>& correlation, Row row) const {
        if (!correlation.has(row)) return std::nullopt;
        auto found = std::lower_bound(times_.begin(), times_.end(),
                                      std::tuple(process, correlation[row], std::numeric_limits<TimeNs>::min()));
        if (found == times_.end() || std::get<0>(*found) != process || std::get<1>(*found) != correlation[row])
            return std::nullopt;
        return std::get<2>(*found);
    }

private:
    std::vector<std::tuple<StringId, std::int64_t, TimeNs>> times_;
};

}  // namespace

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
