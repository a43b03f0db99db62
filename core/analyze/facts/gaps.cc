#include "core/analyze/facts/gaps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/analyze/facts/activity.h"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/gap_pieces.h"
#include "core/analyze/facts/host_copies.h"
#include "core/analyze/facts/host_state.h"
#include "core/analyze/facts/submitters.h"
#include "core/analyze/facts/waits.h"
#include "core/analyze/knowledge/record_cost.h"
#include "core/base/parallel.h"
#include "core/model/trace.h"

namespace gpuprof {
namespace {

// How long a device may take from the end of the submitting call to the start of the op before something else than
// launching is to blame. Measured queue times of an empty stream are 1-5 us; graphs and multi-process service take longer.
constexpr DurNs kLaunchLatency = 20'000;

// What the host does for longer than this between a wait and the next launch is a cause of its own.
constexpr DurNs kRestart = 200'000;

// The longest gap that counts as the price of one launch where no operators were recorded.
constexpr DurNs kBetweenLaunches = 50'000;

// The host side of device work: flattened states of the threads that submit it.
class HostStates {
public:
    HostStates(const Trace& trace, const Submitters& submitters) : submitters_(submitters.threads()) {
        HostTimeline timeline(trace, {HostKind::range, HostKind::op, HostKind::api_call});
        HostMeaning meaning(trace);
        for (StringId thread : submitters_) segments_[thread] = meaning.segments(timeline.spans(thread));
        record_cost_ = record_cost(trace.origin().tool);
        const PythonCallTable& calls = trace.tables().python_call;
        for (Row row = 0; row < calls.rows && record_cost_.python_call > 0; ++row)
            if (submitters.has(calls.thread.value_or(row, kNoString)))
                python_calls_[calls.thread[row]].push_back(calls.start[row]);
    }

    // What a submitting thread did.
    const PodVector<HostSegment>& segments(StringId thread) const { return segments_.at(thread); }
    // What making the records in `part` cost the thread, which is in `segment`, or in none.
    DurNs recording(StringId thread, Interval part, const HostSegment* segment) const {
        double cost = 0;
        if (segment != nullptr)
            cost = static_cast<double>(record_cost_.op_or_call) * segment->records *
                   static_cast<double>(part.length()) / static_cast<double>(segment->end - segment->start);
        auto found = python_calls_.find(thread);
        if (found == python_calls_.end()) return static_cast<DurNs>(cost);
        auto before = [&](TimeNs time) { return std::lower_bound(found->second.begin(), found->second.end(), time); };
        auto calls = static_cast<double>(before(part.end) - before(part.start));
        return static_cast<DurNs>(cost + static_cast<double>(record_cost_.python_call) * calls);
    }
    // The busiest first.
    const std::vector<StringId>& submitters() const { return submitters_; }

private:
    const std::vector<StringId>& submitters_;
    std::map<StringId, PodVector<HostSegment>> segments_;
    RecordCost record_cost_;
    std::map<StringId, PodVector<TimeNs>> python_calls_;  // where that cost is known: starts, by thread
};

// First segment that ends after `time`. Gaps come in order of time, so the answer is mostly just after the last one (`hint`):
// steps grow from there before the search is cut in halves.
std::size_t first_after(const PodVector<HostSegment>& segments, TimeNs time, std::size_t& hint) {
    std::size_t low = std::min(hint, segments.size());
    if (low > 0 && segments[low - 1].end > time) low = 0;
    std::size_t high = low;
    for (std::size_t step = 1; high < segments.size() && segments[high].end <= time; step *= 2) {
        low = high + 1;
        high += step;
    }
    auto found = std::upper_bound(segments.begin() + low, segments.begin() + std::min(high, segments.size()), time,
                                  [](TimeNs t, const HostSegment& s) { return t < s.end; });
    return hint = static_cast<std::size_t>(found - segments.begin());
}

class GapReader {
public:
    GapReader(const Trace& trace, const HostStates& states, const Waits& waits, PodVector<IdleSpan>* spans = nullptr)
        : trace_(trace), states_(states), waits_(waits), paths_(trace), profiler_(overhead_of(trace)), pieces_(spans) {}

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
        pieces_.settle(gap, device);
        device.queued += std::exchange(queued_ns_, 0);
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
    bool is_drained(const IdleGap& gap) const {
        if (gap.after == kNoRow || gap.before == kNoRow) return false;
        bool own_cause = gap.cause != IdleCause::launch && gap.cause != IdleCause::synchronisation &&
                         (gap.cause != IdleCause::host_compute || gap.dur > kRestart);
        Row call = launch_of(trace_, gap.after_op, gap.after);
        if (own_cause || call == kNoRow || !trace_.api_call().thread.has(call)) return false;
        const Interval* wait = waits_.last_begun(trace_.api_call().thread[call], gap.start);
        return wait != nullptr && wait->end >= gap.start && trace_.api_call().start[call] >= wait->start;
    }
    static IntervalSet overhead_of(const Trace& trace) {
        const OverheadTable& overhead = trace.tables().overhead;
        Intervals spans;
        for (Row row = 0; row < overhead.rows; ++row)
            spans.push_back({overhead.start[row], overhead.start[row] + overhead.dur[row]});
        return unite(std::move(spans));
    }
    // The profiler's own intervals that touch `span`; recorders write few, so this is short.
    IntervalSet profiler_near(Interval span) {
        IntervalSet near;
        auto from = std::upper_bound(profiler_.begin(), profiler_.end(), span.start,
                                     [](TimeNs t, const Interval& i) { return t < i.end; });
        for (; from != profiler_.end() && from->start < span.end; ++from) near.push_back(*from);
        if (!near.empty()) overhead_name_ = trace_.tables().overhead.name[0];
        return near;
    }

    // Splits a part of a gap at the submitting call: before it, what the thread did; then the launch and its way to the device.
    void explain(IdleGap& gap, Interval part) {
        Row op = gap.after != kNoRow ? gap.after : gap.before;
        Row call = launch_of(trace_, gap.after != kNoRow ? gap.after_op : gap.before_op, op);
        if (call == kNoRow || !trace_.api_call().thread.has(call)) return explain_without_call(part);
        StringId thread = trace_.api_call().thread[call];
        gap.host_thread = thread;
        if (gap.after == kNoRow) return explain_host(thread, part);
        TimeNs submit = trace_.api_call().start[call];
        TimeNs submitted = submit + trace_.api_call().dur[call];
        if (submit > part.start) explain_host(thread, {part.start, std::min(submit, part.end)});
        Interval within{std::max(part.start, submit), std::min(part.end, submitted)};
        StringId call_name = trace_.api_call().name[call];
        IdleCause calling = crosses_bus(gap)                      ? IdleCause::host_memcpy
                            : submitted - submit > kLongestLaunch ? IdleCause::compilation
                                                                  : IdleCause::launch;
        pieces_.add(calling, call_name, thread, within);
        Interval queued{std::max(part.start, submitted), part.end};
        if (queued.length() > 0) explain_queue(gap, thread, queued, call_name);
    }

    // The op was submitted already and still did not run: its way to the device, or a wait for something on the device. What
    // the host waited in meanwhile is named, and is not to blame.
    void explain_queue(const IdleGap& gap, StringId thread, Interval queued, StringId call_name) {
        if (gap.dur <= kLaunchLatency || queued.length() <= kLaunchLatency)
            return pieces_.add(IdleCause::launch, call_name, thread, queued);
        const HostSegment* waiting = waiting_at(thread, queued.end - 1);
        pieces_.add(IdleCause::unknown, waiting != nullptr ? waiting->name : call_name, thread, queued);
        queued_ns_ += queued.length();
    }
    // Where a thread is inside a call that waits for the device.
    const HostSegment* waiting_at(StringId thread, TimeNs time) {
        const PodVector<HostSegment>& segments = *cursor_of(thread).segments;
        auto after = std::upper_bound(segments.begin(), segments.end(), time,
                                      [](TimeNs t, const HostSegment& each) { return t < each.start; });
        return after != segments.begin() && after[-1].end > time && waits(after[-1]) ? &after[-1] : nullptr;
    }
    static bool waits(const HostSegment& segment) {
        return segment.cause == IdleCause::synchronisation || segment.cause == IdleCause::host_memcpy;
    }

    // A host that waits for the device is not what the device waits for: those stretches are unknown. Where it does not wait, it may be.
    void explain_without_call(Interval part) {
        if (const std::vector<StringId>& submitters = states_.submitters(); !submitters.empty()) {
            StringId thread = submitters.front();
            const PodVector<HostSegment>& segments = *cursor_of(thread).segments;
            TimeNs at = part.start;
            for (std::size_t i = first_after(segments, part.start, cursor_of(thread).hint);
                 i < segments.size() && segments[i].start < part.end; ++i) {
                if (!waits(segments[i])) continue;
                Interval waiting{std::max(at, segments[i].start), std::min(segments[i].end, part.end)};
                if (waiting.start > at) explain_host(thread, {at, waiting.start});
                pieces_.add(IdleCause::unknown, segments[i].name, thread, waiting);
                queued_ns_ += waiting.length();
                at = waiting.end;
            }
            if (at < part.end) explain_host(thread, {at, part.end});
            return;
        }
        bool calls_recorded = trace_.api_call().rows > 0;
        pieces_.add(calls_recorded ? IdleCause::nothing_submitted : IdleCause::unknown, kNoString, kNoString, part);
    }

    // What `thread` did during `part`; where it only waited inside a range, what the process's other submitting threads did
    // (the autograd engine works while the main thread waits, and the reverse).
    void explain_host(StringId thread, Interval part) {
        Cursor& cursor = cursor_of(thread);
        const PodVector<HostSegment>& segments = *cursor.segments;
        TimeNs at = part.start;
        for (std::size_t i = first_after(segments, part.start, cursor.hint);
             i < segments.size() && segments[i].start < part.end; ++i) {
            const HostSegment& segment = segments[i];
            if (segment.start > at) explain_silence(thread, {at, segment.start});
            at = std::max(at, segment.start);
            Interval piece{at, std::min(segment.end, part.end)};
            if (works(segment) || !explain_by_partner(thread, piece, segment, works)) add_host(segment, thread, piece);
            at = piece.end;
        }
        if (at < part.end) explain_silence(thread, {at, part.end});
    }

    // Nothing recorded on the thread itself: what others worked on, or else which ranges they had open.
    void explain_silence(StringId thread, Interval part) {
        if (explain_by_partner(thread, part, std::nullopt, works) ||
            explain_by_partner(thread, part, std::nullopt, is_open))
            return;
        add_silence(thread, part);
    }
    void add_host(const HostSegment& segment, StringId thread, Interval part) {
        pieces_.add(segment.cause, segment.name, thread, part, states_.recording(thread, part, &segment));
    }
    void add_silence(StringId thread, Interval part) {
        pieces_.add(silence_of(thread, part), kNoString, thread, part, states_.recording(thread, part, nullptr));
    }
    // Between two recorded spans the thread ran code nobody recorded; before its first and after its last it submitted nothing.
    IdleCause silence_of(StringId thread, Interval part) {
        const PodVector<HostSegment>& segments = *cursor_of(thread).segments;
        bool between = !segments.empty() && segments[0].start < part.end && segments.back().end > part.start;
        return between ? IdleCause::host_compute : IdleCause::nothing_submitted;
    }

    static bool works(const HostSegment& segment) {
        return segment.working || segment.cause == IdleCause::input_pipeline;
    }
    static bool is_open(const HostSegment&) { return true; }

    // Hands `part` to the first other submitting thread with a segment in it that `counts`. What that thread leaves
    // unexplained goes to `rest` (the own thread's weak explanation). Whether there was such a thread.
    bool explain_by_partner(StringId thread, Interval part, const std::optional<HostSegment>& rest,
                            bool (*counts)(const HostSegment&)) {
        for (StringId partner : states_.submitters()) {
            if (partner == thread) continue;
            Cursor& cursor = cursor_of(partner);
            const PodVector<HostSegment>& segments = *cursor.segments;
            std::size_t i = first_after(segments, part.start, cursor.hint);
            while (i < segments.size() && segments[i].start < part.end && !counts(segments[i])) ++i;
            if (i == segments.size() || segments[i].start >= part.end) continue;
            TimeNs at = part.start;
            for (; i < segments.size() && segments[i].start < part.end; ++i) {
                const HostSegment& segment = segments[i];
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

    // What a thread did, and where the last look-up ended.
    struct Cursor {
        const PodVector<HostSegment>* segments = nullptr;
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
    CopyPaths paths_;
    std::map<std::uint32_t, Cursor> cursors_;
    StringId last_thread_ = kNoString;
    Cursor* last_cursor_ = nullptr;
    IntervalSet profiler_;
    StringId overhead_name_ = kNoString;
    Pieces pieces_;
    DurNs queued_ns_ = 0;  // of the gap that is being read
};

// Every idle interval of one device, without its cause.
void list_gaps(const Trace& trace, std::int32_t device, PodVector<IdleGap>& gaps) {
    DeviceOps ops(trace, device);
    IdleGap gap;
    gap.device = device;
    TimeNs free_from = trace.window().start;
    auto close = [&](TimeNs until) {
        gap.start = free_from;
        gap.dur = until - free_from;
        gaps.push_back(gap);
    };
    while (ops.next()) {
        if (ops.span().length() <= 0) continue;  // covers no time, so it ends no gap
        gap.after = ops.row();
        gap.after_op = ops.kind();
        if (ops.span().start > free_from) close(ops.span().start);
        if (ops.span().end > free_from || gap.before == kNoRow) {
            free_from = std::max(free_from, ops.span().end);
            gap.before = ops.row();
            gap.before_op = ops.kind();
        }
    }
    gap.after = kNoRow;
    gap.after_op = DeviceOp::none;
    if (trace.window().end > free_from) close(trace.window().end);
}

// Gives each gap its cause, and adds the pieces to `idle`. Gaps do not depend on each other: every thread takes a stretch.
void explain_gaps(const Trace& trace, const HostStates& states, const Waits& waits, IdleGap* begin, IdleGap* end,
                  DeviceIdle& idle) {
    constexpr std::size_t kWorthAThread = 20'000;
    auto count = static_cast<std::size_t>(end - begin);
    std::size_t stretches = std::min<std::size_t>(usual_threads(), count / kWorthAThread + 1);
    std::vector<DeviceIdle> totals(stretches);
    run_parallel(stretches, static_cast<unsigned>(stretches), [&](std::size_t stretch, unsigned) {
        GapReader reader(trace, states, waits);
        for (std::size_t i = count * stretch / stretches; i < count * (stretch + 1) / stretches; ++i)
            reader.read(begin[i], totals[stretch]);
    });
    for (const DeviceIdle& part : totals)
        for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
            idle.causes[cause].total += part.causes[cause].total;
            idle.causes[cause].count += part.causes[cause].count;
            idle.drained[cause] += part.drained[cause];
        }
    for (const DeviceIdle& part : totals) {
        idle.between_launches += part.between_launches;
        idle.queued += part.queued;
    }
}

}  // namespace

std::vector<IdleCause> causes_of(const DeviceIdle& device) {
    std::vector<IdleCause> order;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        if (device.causes[cause].total > 0) order.push_back(static_cast<IdleCause>(cause));
    auto total = [&](IdleCause cause) { return device.causes[static_cast<std::size_t>(cause)].total; };
    std::stable_sort(order.begin(), order.end(), [&](IdleCause a, IdleCause b) { return total(a) > total(b); });
    return order;
}

bool listed_before(const IdleGap& a, const IdleGap& b) {
    if (a.dur != b.dur) return a.dur > b.dur;
    return a.start != b.start ? a.start < b.start : a.device < b.device;
}

IdleGaps IdleGaps::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    IdleGaps result;
    HostStates states(trace, facts.get<Submitters>());
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        DeviceIdle& idle = result.devices.emplace_back();
        idle.device = device.device;
        std::size_t first = result.gaps.size();
        list_gaps(trace, device.device, result.gaps);
        explain_gaps(trace, states, facts.get<Waits>(), result.gaps.begin() + first, result.gaps.end(), idle);
    }
    return result;
}

IdleSpans IdleSpans::make(const Facts& facts) {
    const IdleGaps& gaps = facts.get<IdleGaps>();
    PodVector<IdleSpan> spans;
    HostStates states(facts.trace(), facts.get<Submitters>());
    GapReader reader(facts.trace(), states, facts.get<Waits>(), &spans);
    DeviceIdle ignored;
    for (std::uint32_t i = 0; i < gaps.gaps.size(); ++i) {
        std::size_t first = spans.size();
        IdleGap gap = gaps.gaps[i];
        reader.read(gap, ignored);
        for (std::size_t added = first; added < spans.size(); ++added) spans[added].gap = i;
        std::sort(spans.begin() + first, spans.end(),
                  [](const IdleSpan& a, const IdleSpan& b) { return a.start < b.start; });
    }
    return {std::move(spans)};
}

}  // namespace gpuprof
