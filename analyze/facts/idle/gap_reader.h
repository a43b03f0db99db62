// Explains one gap from the ops around it, the call that submitted the next op, and the activity of host threads.
// Private to gaps.cc.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/idle/arrivals.h"
#include "analyze/facts/idle/host_state.h"
#include "analyze/facts/idle/idle_gap.h"
#include "analyze/facts/idle/waits.h"
#include "core/base/pod_vector.h"
#include "core/model/build/submission.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// The pieces of one gap while it is being explained, each with a cause, summed by cause and name.
class Pieces {
public:
    // Every added span is also appended to `spans`, if given.
    explicit Pieces(PodVector<IdleSpan>* spans) : spans_(spans) {}

    void clear() { pieces_.clear(); }
    // `recording`: lower bound of the recorder's overhead on the thread in this piece.
    void add(IdleCause cause, StringId name, StringId thread, Interval span, DurNs recording = 0) {
        DurNs dur = span.length();
        if (dur <= 0) return;
        recording = std::min(recording, dur);
        if (spans_ != nullptr) spans_->push_back({.start = span.start, .dur = dur, .cause = cause, .thread = thread});
        for (Piece& piece : pieces_)
            if (piece.cause == cause && piece.name == name && piece.thread == thread) {
                piece.dur += dur;
                piece.recording += recording;
                return;
            }
        pieces_.push_back({dur, recording, name, thread, cause});
    }
    // Sets the gap's main cause and host activity; adds the pieces to the device's totals.
    void add_to(IdleGap& gap, DeviceIdle& device) const {
        std::array<DurNs, kIdleCauses> by_cause{};
        for (const Piece& piece : pieces_) by_cause[static_cast<std::size_t>(piece.cause)] += piece.dur;
        gap.cause = IdleCause{};
        for (const Piece& piece : pieces_) {  // few, since most causes have no piece
            DurNs here = by_cause[static_cast<std::size_t>(piece.cause)],
                  largest = by_cause[static_cast<std::size_t>(gap.cause)];
            if (here > largest || (here == largest && piece.cause < gap.cause)) gap.cause = piece.cause;
        }
        DurNs most = -1, recording = 0;
        for (const Piece& piece : pieces_) {
            if (piece.cause != gap.cause) continue;
            recording += piece.recording;
            if (piece.dur - piece.recording <= most) continue;
            most = piece.dur - piece.recording;
            gap.host_what = piece.name;
            if (piece.thread != kNoString) gap.host_thread = piece.thread;
        }
        gap.recording = recording > most;
        if (gap.recording) gap.host_what = kNoString;
        for (const Piece& piece : pieces_) {
            auto cause = static_cast<std::size_t>(piece.cause);
            DurNs sum = std::exchange(by_cause[cause], 0);
            device.causes[cause].total += sum;
            device.causes[cause].count += sum > 0;
        }
    }

    DurNs of(IdleCause cause) const {
        DurNs sum = 0;
        for (const Piece& piece : pieces_)
            if (piece.cause == cause) sum += piece.dur;
        return sum;
    }
    void add_to(std::array<DurNs, kIdleCauses>& sums) const {
        for (const Piece& piece : pieces_) sums[static_cast<std::size_t>(piece.cause)] += piece.dur;
    }

private:
    struct Piece {
        DurNs dur, recording;
        StringId name;
        StringId thread;
        IdleCause cause;
    };
    PodVector<IdleSpan>* spans_;
    std::vector<Piece> pieces_;
};

// Maximum time from the end of the submitting call to the start of the op that still counts as launch latency. Measured
// queue times of an empty stream are 1-5 us; graphs and multi-process service take longer.
inline constexpr DurNs kLaunchLatency = 20'000;

// Host activity longer than this between a wait and the next launch is a separate cause.
inline constexpr DurNs kRestart = 200'000;

// The longest gap that counts as the cost of one launch when no operators were recorded.
inline constexpr DurNs kBetweenLaunches = 50'000;

// When the ops of each device ended, for devices that wait for one another. Empty if only one had work.
class DeviceEnds {
public:
    DeviceEnds() = default;
    explicit DeviceEnds(const Trace& trace) {
        auto add = [&](const auto& table) {
            for (Row row = 0; row < table.rows; ++row)
                ends_[table.device.value_or(row, -1)].push_back(table.start[row] + table.dur[row]);
        };
        add(trace.kernel());
        add(trace.memcpy());
        for (auto& [device, ends] : ends_) std::sort(ends.begin(), ends.end());
    }
    // Whether an op of another device ended at `time` or up to `before` earlier.
    bool ended_before(std::int32_t device, TimeNs time, DurNs before) const {
        for (const auto& [other, ends] : ends_) {
            if (other == device) continue;
            auto after = std::upper_bound(ends.begin(), ends.end(), time);
            if (after != ends.begin() && after[-1] >= time - before) return true;
        }
        return false;
    }

private:
    std::map<std::int32_t, PodVector<TimeNs>> ends_;
};

class GapReader {
public:
    // `devices`: how many had work.
    GapReader(const Trace& trace, const HostStates& states, const Waits& waits, const Arrivals& arrivals,
              std::size_t devices, const DeviceEnds& ends, PodVector<IdleSpan>* spans = nullptr)
        : trace_(trace),
          states_(states),
          waits_(waits),
          arrivals_(arrivals),
          paths_(trace),
          devices_(devices),
          other_ends_(ends),
          profiler_(overhead_of(trace)),
          functions_(functions_of(trace)),
          pieces_(spans) {}

    void read(IdleGap& gap, DeviceIdle& device) {
        pieces_.clear();
        Interval span{gap.start, gap.start + gap.dur};
        IntervalSet profiler = profiler_near(span);
        if (profiler.empty()) {
            explain(gap, span);
        } else {
            for (const Interval& part : intersect({span}, profiler))
                pieces_.add(IdleCause::profiler, overhead_name_, kNoString, part);
            for (const Interval& part : subtract({span}, profiler)) explain(gap, part);
        }
        pieces_.add_to(gap, device);
        if (is_drained(gap))
            pieces_.add_to(device.drained);
        else if (gap.dur <= kBetweenLaunches && gap.after != kNoRow && trace_.op().rows == 0)
            device.between_launches += pieces_.of(IdleCause::host_compute);
    }

private:
    // A copy on the device is launched like a kernel.
    bool crosses_bus(const IdleGap& gap) const {
        return gap.after_op == DeviceOp::memcpy && !paths_.stays_on_device(gap.after);
    }
    // As Waits::last_begun, but from where the last lookup ended, because gaps come in time order.
    const Interval* last_wait(StringId thread, TimeNs time) {
        if (waits_of_ == nullptr || thread != waiting_thread_) {
            auto found = waits_.of_thread.find(thread);
            if (found == waits_.of_thread.end()) return nullptr;
            waiting_thread_ = thread;
            waits_of_ = &found->second;
            const Interval* begun = waits_.last_begun(thread, time);
            begun_ = begun == nullptr ? 0 : static_cast<std::size_t>(begun - waits_of_->data()) + 1;
        }
        while (begun_ < waits_of_->size() && (*waits_of_)[begun_].start <= time) ++begun_;
        while (begun_ > 0 && (*waits_of_)[begun_ - 1].start > time) --begun_;
        return begun_ == 0 ? nullptr : &(*waits_of_)[begun_ - 1];
    }
    bool is_drained(const IdleGap& gap) {
        if (gap.after == kNoRow || gap.before == kNoRow) return false;
        bool own_cause = gap.cause != IdleCause::launch && gap.cause != IdleCause::synchronisation &&
                         (gap.cause != IdleCause::host_compute || gap.dur > kRestart);
        Row call = launch_of(trace_, gap.after_op, gap.after);
        if (own_cause || call == kNoRow || !trace_.api_call().thread.has(call)) return false;
        const Interval* wait = last_wait(trace_.api_call().thread[call], gap.start);
        return wait != nullptr && wait->end >= gap.start && trace_.api_call().start[call] >= wait->start;
    }
    // Functions of the host that a stream waited for, which the driver ran on a thread of its own.
    struct HostFunctions {
        Intervals spans;
        StringId name, thread;
    };
    using StreamOfProcess = std::pair<StringId, std::int64_t>;
    static std::map<StreamOfProcess, HostFunctions> functions_of(const Trace& trace) {
        std::map<StreamOfProcess, HostFunctions> found;
        const SyncTable& syncs = trace.tables().sync;
        for (Row row = 0; row < syncs.rows; ++row) {
            if (!syncs.stream.has(row) || !syncs.kind.has(row) || trace.text(syncs.kind[row]) != kHostFunction)
                continue;
            HostFunctions& of = found[{syncs.process.value_or(row, kNoString), syncs.stream[row]}];
            of.spans.push_back({syncs.start[row], syncs.start[row] + syncs.dur[row]});
            of.name = syncs.kind[row];
            of.thread = syncs.thread.value_or(row, kNoString);
        }
        for (auto& [stream, of] : found) of.spans = unite(std::move(of.spans));
        return found;
    }
    // Of the stream of the op that ends the gap; null if it waited for none.
    const HostFunctions* functions_before(const IdleGap& gap) const {
        if (functions_.empty() || gap.after == kNoRow) return nullptr;
        auto of = [&](const auto& ops) {
            auto found =
                functions_.find({ops.process.value_or(gap.after, kNoString), ops.stream.value_or(gap.after, -1)});
            return found == functions_.end() ? nullptr : &found->second;
        };
        if (gap.after_op == DeviceOp::kernel) return of(trace_.kernel());
        return gap.after_op == DeviceOp::memcpy ? of(trace_.memcpy()) : of(trace_.memset());
    }
    static IntervalSet overhead_of(const Trace& trace) {
        const OverheadTable& overhead = trace.tables().overhead;
        Intervals spans;
        for (Row row = 0; row < overhead.rows; ++row)
            spans.push_back({overhead.start[row], overhead.start[row] + overhead.dur[row]});
        return unite(std::move(spans));
    }
    static IntervalSet touching(Interval span, const IntervalSet& set) {
        IntervalSet near;
        auto from =
            std::upper_bound(set.begin(), set.end(), span.start, [](TimeNs t, const Interval& i) { return t < i.end; });
        for (; from != set.end() && from->start < span.end; ++from) near.push_back(*from);
        return near;
    }
    // The profiler's own intervals that touch `span`; recorders write few of them.
    IntervalSet profiler_near(Interval span) {
        IntervalSet near = touching(span, profiler_);
        if (!near.empty()) overhead_name_ = trace_.tables().overhead.name[0];
        return near;
    }

    bool launches_graph(StringId name) {
        if (name == last_launch_) return launched_graph_;
        auto [known, added] = graph_launches_.try_emplace(name, false);
        if (added) known->second = name != kNoString && submission_of(trace_.text(name)) == Submission::graph;
        last_launch_ = name;
        return launched_graph_ = known->second;
    }
    // Whether an op of the launched graph whose op ends the gap began before it. Ops of other streams may have run in between.
    bool is_within_graph(const IdleGap& gap, Row call) {
        constexpr Row kNear = 64;
        if (gap.before == kNoRow || !launches_graph(trace_.api_call().name.value_or(call, kNoString))) return false;
        if (launch_of(trace_, gap.before_op, gap.before) == call) return true;
        if (gap.after_op != DeviceOp::kernel) return false;
        const PodVector<Row>& launches = trace_.links().kernel_launch;
        for (Row row = gap.after; row-- > 0 && gap.after - row <= kNear;)
            if (launches[row] == call) return true;
        return false;
    }

    // Splits a part of a gap at the submitting call: the thread's activity before it, then the launch and its latency.
    void explain(IdleGap& gap, Interval part) {
        Row op = gap.after != kNoRow ? gap.after : gap.before;
        Row call = launch_of(trace_, gap.after != kNoRow ? gap.after_op : gap.before_op, op);
        if (call == kNoRow || !trace_.api_call().thread.has(call)) return explain_without_call(part);
        StringId thread = trace_.api_call().thread[call];
        gap.host_thread = thread;
        if (gap.after == kNoRow) return explain_host(thread, part);
        if (is_within_graph(gap, call)) return pieces_.add(IdleCause::graph, kNoString, thread, part);
        TimeNs submit = trace_.api_call().start[call];
        TimeNs submitted = submit + trace_.api_call().dur[call];
        if (submit > part.start) explain_host(thread, {part.start, std::min(submit, part.end)});
        Interval within{std::max(part.start, submit), std::min(part.end, submitted)};
        StringId call_name = trace_.api_call().name[call];
        IdleCause calling = submitted - submit > kMaxLaunchDuration ? IdleCause::compilation : IdleCause::launch;
        if (crosses_bus(gap)) calling = IdleCause::host_memcpy;
        pieces_.add(calling, call_name, thread, within);
        Interval queued{std::max(part.start, submitted), part.end};
        if (queued.length() > 0) explain_queue(gap, thread, queued, call_name);
    }

    // The op was already submitted but did not run yet: launch latency, or a wait for something on the device. The
    // host's own wait during that time is named but not blamed.
    void explain_queue(const IdleGap& gap, StringId thread, Interval queued, StringId call_name) {
        const HostFunctions* functions = functions_before(gap);
        if (functions == nullptr) return explain_rest_of_queue(gap, thread, queued, call_name);
        IntervalSet near = touching(queued, functions->spans);
        for (const Interval& part : intersect({queued}, near))
            pieces_.add(IdleCause::host_compute, functions->name, functions->thread, part);
        for (const Interval& part : subtract({queued}, near)) explain_rest_of_queue(gap, thread, part, call_name);
    }
    void explain_rest_of_queue(const IdleGap& gap, StringId thread, Interval queued, StringId call_name) {
        if (gap.dur <= kLaunchLatency || queued.length() <= kLaunchLatency)
            return pieces_.add(IdleCause::launch, call_name, thread, queued);
        std::optional<HostSegment> waiting = waiting_at(thread, queued.end - 1);
        if (other_ends_.ended_before(gap.device, queued.end, kLaunchLatency))  // it waited for another device
            return pieces_.add(IdleCause::unknown, call_name, thread, queued);
        pieces_.add(IdleCause::unrecorded_work, waiting ? waiting->name : call_name, thread, queued);
    }
    // The segment in which a thread is inside a call that waits for the device.
    std::optional<HostSegment> waiting_at(StringId thread, TimeNs time) {
        const HostSegments& segments = *cursor_of(thread).segments;
        std::size_t hint = cursor_of(thread).hint, at = first_after(segments, time, hint);
        if (at == segments.size() || segments.start(at) > time || !waits(segments[at])) return std::nullopt;
        return segments[at];
    }
    static bool waits(const HostSegment& segment) {
        return segment.cause == IdleCause::synchronisation || segment.cause == IdleCause::host_memcpy;
    }

    // While the host waits for the device, the device cannot be waiting for the host, so the cause is unknown. While
    // the host does not wait, it may be the cause.
    void explain_without_call(Interval part) {
        if (const std::vector<StringId>& submitters = states_.submitters(); !submitters.empty()) {
            StringId thread = submitters.front();
            const HostSegments& segments = *cursor_of(thread).segments;
            TimeNs at = part.start;
            for (std::size_t i = first_after(segments, part.start, cursor_of(thread).hint);
                 i < segments.size() && segments.start(i) < part.end; ++i) {
                if (!waits(segments[i])) continue;
                Interval waiting{std::max(at, segments.start(i)), std::min(segments.end(i), part.end)};
                if (waiting.start > at) explain_host(thread, {at, waiting.start});
                pieces_.add(IdleCause::unrecorded_work, segments[i].name, thread, waiting);
                at = waiting.end;
            }
            if (at < part.end) explain_host(thread, {at, part.end});
            return;
        }
        bool calls_recorded = trace_.api_call().rows > 0;
        pieces_.add(calls_recorded ? IdleCause::nothing_submitted : IdleCause::unknown, kNoString, kNoString, part);
    }

    // Activity of `thread` during `part`; while it only waited inside a range, the activity of the process's other
    // submitting threads (the autograd engine works while the main thread waits, and vice versa).
    void explain_host(StringId thread, Interval part) {
        Cursor& cursor = cursor_of(thread);
        const HostSegments& segments = *cursor.segments;
        TimeNs at = part.start;
        for (std::size_t i = first_after(segments, part.start, cursor.hint);
             i < segments.size() && segments.start(i) < part.end; ++i) {
            const HostSegment segment = segments[i];
            if (segment.start > at) explain_silence(thread, {at, segment.start});
            at = std::max(at, segment.start);
            Interval piece{at, std::min(segment.end, part.end)};
            if (works(segment) || !explain_by_partner(thread, piece, segment, works)) add_host(segment, thread, piece);
            at = piece.end;
        }
        if (at < part.end) explain_silence(thread, {at, part.end});
    }

    // Nothing was recorded on the thread itself: use the work of other threads, or else their open ranges.
    void explain_silence(StringId thread, Interval part) {
        if (explain_by_partner(thread, part, std::nullopt, works) ||
            explain_by_partner(thread, part, std::nullopt, is_open))
            return;
        add_silence(thread, part);
    }
    void add_host(const HostSegment& segment, StringId thread, Interval part) {
        IdleCause cause = waits_for_nothing(segment, part) ? IdleCause::unrecorded_work : segment.cause;
        pieces_.add(cause, segment.name, thread, part, states_.recording(thread, part, &segment));
    }
    // A wait returns soon after the device is done. A host that still waits, for the only device, waits for work that is not in the
    // recording.
    bool waits_for_nothing(const HostSegment& segment, Interval part) const {
        return segment.cause == IdleCause::synchronisation && part.length() > kRestart && devices_ == 1;
    }
    void add_silence(StringId thread, Interval part) {
        pieces_.add(silence_of(thread, part), kNoString, thread, part, states_.recording(thread, part, nullptr));
    }
    // Between two recorded spans the thread ran unrecorded code, or waited for requests if work comes like these; before its
    // first and after its last span it submitted nothing.
    IdleCause silence_of(StringId thread, Interval part) {
        if (arrivals_.pattern == ArrivalPattern::unproved && 2 * part.length() >= arrivals_.shortest_pause)
            return IdleCause::unknown;
        const HostSegments& segments = *cursor_of(thread).segments;
        bool between =
            !segments.empty() && segments.start(0) < part.end && segments.end(segments.size() - 1) > part.start;
        return between ? IdleCause::host_compute : IdleCause::nothing_submitted;
    }

    static bool works(const HostSegment& segment) {
        return segment.working || segment.cause == IdleCause::input_pipeline;
    }
    // A thread that sleeps explains nothing about another one.
    static bool is_open(const HostSegment& segment) { return segment.cause != IdleCause::waiting; }

    // Attributes `part` to the first other submitting thread with a segment in it that `counts`. The part that this
    // thread leaves unexplained goes to `rest` (the original thread's weak explanation). Returns whether such a thread
    // exists.
    bool explain_by_partner(StringId thread, Interval part, const std::optional<HostSegment>& rest,
                            bool (*counts)(const HostSegment&)) {
        for (StringId partner : states_.submitters()) {
            if (partner == thread) continue;
            Cursor& cursor = cursor_of(partner);
            const HostSegments& segments = *cursor.segments;
            std::size_t i = first_after(segments, part.start, cursor.hint);
            while (i < segments.size() && segments.start(i) < part.end && !counts(segments[i])) ++i;
            if (i == segments.size() || segments.start(i) >= part.end) continue;
            TimeNs at = part.start;
            for (; i < segments.size() && segments.start(i) < part.end; ++i) {
                const HostSegment segment = segments[i];
                if (!counts(segment)) continue;
                add_rest(thread, {at, segment.start}, rest);
                at = std::max(at, segment.start);
                TimeNs end = std::min(segment.end, part.end);
                add_host(segment, partner, {at, end});
                at = end;
            }
            add_rest(thread, {at, part.end}, rest);
            return true;
        }
        return false;
    }
    void add_rest(StringId thread, Interval part, const std::optional<HostSegment>& rest) {
        if (part.length() <= 0) return;
        rest ? add_host(*rest, thread, part) : add_silence(thread, part);
    }

    // The states of a thread, and where the last lookup ended.
    struct Cursor {
        const HostSegments* segments = nullptr;
        std::size_t hint = 0;
    };
    Cursor& cursor_of(StringId thread) {
        if (last_cursor_ != nullptr && thread == last_thread_) return *last_cursor_;
        last_thread_ = thread;
        last_cursor_ = &cursors_[index_of(thread)];
        if (last_cursor_->segments == nullptr) last_cursor_->segments = &states_.segments(thread);
        return *last_cursor_;
    }

    const Trace& trace_;
    const HostStates& states_;
    const Waits& waits_;
    const Arrivals& arrivals_;
    CopyPaths paths_;
    std::size_t devices_;
    const DeviceEnds& other_ends_;
    std::map<std::uint32_t, Cursor> cursors_;
    StringId last_thread_ = kNoString;
    Cursor* last_cursor_ = nullptr;
    StringId waiting_thread_ = kNoString;
    const Intervals* waits_of_ = nullptr;                // of waiting_thread_
    std::size_t begun_ = 0;                              // how many of them had begun
    std::unordered_map<StringId, bool> graph_launches_;  // by the call's name
    StringId last_launch_ = kNoString;                   // of the last call
    bool launched_graph_ = false;
    IntervalSet profiler_;
    std::map<StreamOfProcess, HostFunctions> functions_;
    StringId overhead_name_ = kNoString;
    Pieces pieces_;
};

}  // namespace gpuprof::facts
