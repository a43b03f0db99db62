#include "analyze/facts/idle/host_state.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/idle/host_sleeps.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/knowledge/host_names.h"
#include "core/base/parallel.h"
#include "core/base/text/ascii.h"

namespace gpuprof::inline facts {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

bool names_compilation(std::string_view text) {
    return contains_any(lower(text), {"_compile.compile", "compile_fx", "torch/_inductor", "dynamo_timed", "nvrtc",
                                      "triton/compiler", "jit_compile", "xla_compile", "backend_compile"});
}

bool names_communication_wait(std::string_view text) {
    std::string name = lower(text);
    // MPI_Allreduce, MPI_Waitall, ucp_tag_recv_nbx; not MPI_Init or MPI_Comm_rank. Such a call waits for other ranks, or moves data.
    if (contains_any(name.substr(0, 5), {"mpi_", "ucp_"}))
        return contains_any(
            name, {"send", "recv", "wait", "test", "barrier", "bcast", "reduce", "gather", "scatter", "alltoall",
                   "scan", "probe", "_win_fence", "ucp_put", "ucp_get", "progress", "flush"});
    return contains_any(name, {"nccl", "c10d", "rccl", "processgroup", "distributed"}) &&
           contains_any(name, {"wait", "barrier"});
}

// While spans are open: the cause in force and the span that decided it.
struct OpenSpan {
    TimeNs end;
    IdleCause cause;
    StringId name;
    bool working;
};

// Which spans submit device work, directly or through nested spans. Ranges do not inherit this from nested spans, since
// a step's range always submits something.
void pass_on(const HostThread& thread, std::vector<bool>& submits) {
    for (std::size_t i = thread.spans.size(); i-- > 0;) {
        std::uint32_t parent = thread.spans[i].parent;
        if (submits[i] && parent != kNoSpan && thread.spans[parent].kind == HostKind::op) submits[parent] = true;
    }
}

}  // namespace

void HostSegments::add(const HostSegment& segment) {
    std::uint16_t number = number_of({segment.name, segment.cause, segment.working});
    DurNs dur = segment.end - segment.start;
    if (dur > UINT32_MAX) number = kInFull;
    if (number == kInFull) in_full_.emplace_back(packed_.size(), segment);
    packed_.push_back({segment.start, static_cast<std::uint32_t>(dur), number, segment.records});
}

const HostSegment& HostSegments::in_full(std::size_t i) const {
    return std::lower_bound(in_full_.begin(), in_full_.end(), i,
                            [](const auto& each, std::size_t wanted) { return each.first < wanted; })
        ->second;
}

std::uint16_t HostSegments::number_of(const Meaning& meaning) {
    std::uint16_t& recent = recent_[index_of(meaning.name) % recent_.size()];
    if (recent < meanings_.size() && meanings_[recent] == meaning) return recent;
    std::uint64_t key = std::uint64_t{index_of(meaning.name)} << 16 |
                        static_cast<std::uint64_t>(static_cast<std::uint8_t>(meaning.cause)) << 8 | meaning.working;
    auto known = numbers_.find(key);
    if (known != numbers_.end()) return recent = known->second;
    if (meanings_.size() >= kInFull) return kInFull;
    recent = static_cast<std::uint16_t>(meanings_.size());
    numbers_.emplace(key, recent);
    meanings_.push_back(meaning);
    return recent;
}

class HostMeaning::Flattener {
public:
    explicit Flattener(const Trace& trace) : trace_(trace) {}
    // Assigns time up to `until` to the innermost open span, if any.
    void advance(TimeNs until) {
        while (!open_.empty() && open_.back().end <= until) {
            emit(open_.back().end);
            open_.pop_back();
        }
        emit(until);
    }
    void open(TimeNs start, OpenSpan span) {
        advance(start);
        open_.push_back(span);
        at_ = start;
    }
    // Counts a record that begins with the next segment.
    void count_record() { ++records_; }
    HostSegments finish() && {
        while (!open_.empty()) advance(open_.back().end);
        add_last();
        return std::move(segments_);
    }
    const OpenSpan* innermost() const { return open_.empty() ? nullptr : &open_.back(); }

private:
    void emit(TimeNs until) {
        if (until > at_ && !open_.empty()) {
            const OpenSpan& top = open_.back();
            bool same = any_ && last_.end == at_ && last_.cause == top.cause && last_.name == top.name &&
                        last_.working == top.working && last_.records + records_ <= kMaxRecords;
            if (!same) {
                add_last();
                last_ = {at_, at_, top.name, top.cause, top.working};
                any_ = true;
            }
            last_.end = until;
            last_.records = static_cast<std::uint16_t>(last_.records + std::min(records_, kMaxRecords));
            records_ = 0;
        }
        at_ = std::max(at_, until);
    }
    // A launch that takes so long is something else.
    void add_last() {
        if (!any_) return;
        if (last_.cause == IdleCause::launch && last_.end - last_.start > kMaxLaunchDuration)
            last_.cause = kind_of_call(trace_.text(last_.name)) == CallKind::launch ? IdleCause::compilation
                                                                                    : IdleCause::host_compute;
        segments_.add(last_);
    }
    static constexpr std::uint32_t kMaxRecords = UINT16_MAX;

    const Trace& trace_;
    std::vector<OpenSpan> open_;
    HostSegments segments_;
    HostSegment last_;  // the next span may continue it
    bool any_ = false;
    TimeNs at_ = INT64_MIN;
    std::uint32_t records_ = 0;  // of the next segment
};

HostMeaning::Meaning HostMeaning::meaning_of(const HostSpan& span) {
    bool is_call = span.kind == HostKind::api_call;
    if (span.name == kNoString) return Meaning::inherit;
    std::vector<Meaning>& known = by_name_[is_call];
    if (known.empty()) known.resize(trace_.strings().size(), Meaning::unknown_yet);
    Meaning& meaning = known[index_of(span.name)];
    if (meaning != Meaning::unknown_yet) return meaning;
    std::string_view name = trace_.text(span.name);
    if (!is_call) {
        meaning = Meaning::inherit;
        if (names_compilation(name)) meaning = Meaning::compilation;
        if (names_communication_wait(name)) meaning = Meaning::communication;
        if (loaders_.has(span.name)) meaning = Meaning::input;
        return meaning;
    }
    switch (kind_of_call(name)) {
        case CallKind::launch: return meaning = Meaning::launch_call;
        case CallKind::copy: return meaning = Meaning::copy;
        case CallKind::set: return meaning = Meaning::set;
        case CallKind::sync: return meaning = Meaning::sync;
        case CallKind::allocation: return meaning = Meaning::allocation;
        case CallKind::compilation: return meaning = Meaning::compilation;
        case CallKind::other: return meaning = Meaning::inherit;
    }
    return meaning;
}

void HostMeaning::flatten(const HostThread& thread, Flattener& flat) {
    std::vector<bool> submits;  // needed only for operators
    bool any_op = std::any_of(thread.spans.begin(), thread.spans.end(),
                              [](const HostSpan& span) { return span.kind == HostKind::op; });
    if (any_op) submits.resize(thread.spans.size());
    for (std::size_t i = 0; i < submits.size(); ++i) {
        const HostSpan& span = thread.spans[i];
        Meaning meaning = span.kind == HostKind::api_call ? meaning_of(span) : Meaning::inherit;
        submits[i] = meaning == Meaning::launch_call || meaning == Meaning::copy || meaning == Meaning::set;
    }
    if (any_op) pass_on(thread, submits);
    for (std::size_t i = 0; i < thread.spans.size(); ++i) {
        const HostSpan& span = thread.spans[i];
        if (span.kind == HostKind::overhead) continue;
        flat.advance(span.start);
        const OpenSpan* around = flat.innermost();
        bool in_input = around != nullptr && around->cause == IdleCause::input_pipeline;
        bool inherits_launch = around != nullptr && around->cause == IdleCause::launch;
        OpenSpan open{span.end, IdleCause::host_compute, span.name,
                      span.kind == HostKind::op || span.kind == HostKind::api_call};
        switch (meaning_of(span)) {
            case Meaning::input: open.cause = IdleCause::input_pipeline; break;
            case Meaning::communication: open.cause = IdleCause::communication_wait; break;
            case Meaning::compilation: open.cause = IdleCause::compilation; break;
            case Meaning::launch_call:
            case Meaning::set: open.cause = IdleCause::launch; break;
            case Meaning::copy: open.cause = IdleCause::host_memcpy; break;
            case Meaning::sync: open.cause = IdleCause::synchronisation; break;
            case Meaning::allocation: open.cause = IdleCause::allocation; break;
            case Meaning::unknown_yet:
            case Meaning::inherit:
                // An operator that submits work is launch cost, and so is everything inside it. A nested range or frame
                // with its own meaning overrides the enclosing operator.
                if (span.kind == HostKind::op && submits[i]) open.cause = IdleCause::launch;
                if (around != nullptr && (in_input || inherits_launch || span.kind == HostKind::api_call)) {
                    open.cause = around->cause;
                    open.name = around->name;
                }
                break;
        }
        open.working = open.working || (around != nullptr && around->working) || in_input;
        flat.open(span.start, open);
        if (span.kind == HostKind::op || span.kind == HostKind::api_call) flat.count_record();
    }
}

HostSegments HostMeaning::segments(const HostTimeline& timeline, StringId thread) {
    Flattener flat(trace_);
    timeline.each_piece(thread, kAllHostKinds, [&](const HostThread& piece) { flatten(piece, flat); });
    return std::move(flat).finish();
}

namespace {

// Cuts segments, and the silence between two of them, where the thread slept: nothing else can be told of that time. Calls and
// operators keep their meaning.
class SleepCutter {
public:
    explicit SleepCutter(const SleepingThread& thread) : thread_(thread) {}

    HostSegments cut(const HostSegments& segments) && {
        for (std::size_t i = 0; i < segments.size(); ++i) {
            const HostSegment segment = segments[i];
            if (!cut_.empty() && segment.start > cut_.back().end) add_sleep({cut_.back().end, segment.start});
            if (segment.working || segment.cause != IdleCause::host_compute)
                cut_.push_back(segment);
            else
                add_awake(segment);
        }
        HostSegments found;
        for (const HostSegment& segment : cut_) found.add(segment);
        return found;
    }

private:
    // Calls visit(part, cause) for the parts in which the thread slept.
    template <class Visit>
    void each_sleep(Interval within, Visit&& visit) const {
        for (auto [set, cause] : {std::pair(&thread_.for_input, IdleCause::input_pipeline),
                                  std::pair(&thread_.for_work, IdleCause::waiting)}) {
            auto sleep = std::upper_bound(set->begin(), set->end(), within.start,
                                          [](TimeNs time, const Interval& each) { return time < each.end; });
            for (; sleep != set->end() && sleep->start < within.end; ++sleep)
                visit(Interval{std::max(sleep->start, within.start), std::min(sleep->end, within.end)}, cause);
        }
    }
    void add_sleep(Interval within) {
        std::size_t first = cut_.size();
        each_sleep(within, [&](Interval part, IdleCause cause) {
            cut_.push_back({part.start, part.end, kNoString, cause});
        });
        sort_from(first);
    }
    void add_awake(const HostSegment& segment) {
        std::size_t first = cut_.size();
        Interval within{segment.start, segment.end};
        Intervals asleep;
        each_sleep(within, [&](Interval part, IdleCause cause) {
            cut_.push_back({part.start, part.end, segment.name, cause});
            asleep.push_back(part);
        });
        if (asleep.empty()) return cut_.push_back(segment);
        for (const Interval& part : subtract({within}, unite(std::move(asleep)))) {
            HostSegment awake = segment;
            awake.start = part.start;
            awake.end = part.end;
            awake.records = static_cast<std::uint16_t>(segment.records * part.length() / within.length());
            cut_.push_back(awake);
        }
        sort_from(first);
    }
    void sort_from(std::size_t first) {
        std::sort(cut_.begin() + first, cut_.end(),
                  [](const HostSegment& a, const HostSegment& b) { return a.start < b.start; });
    }

    const SleepingThread& thread_;
    PodVector<HostSegment> cut_;
};

}  // namespace

HostStates::HostStates(const Facts& facts) : submitters_(facts.get<Submitters>().threads()) {
    const Trace& trace = facts.trace();
    const Loaders& loaders = facts.get<Loaders>();
    const HostSleeps& sleeps = facts.get<HostSleeps>();
    HostTimeline timeline(trace, {HostKind::range, HostKind::op, HostKind::api_call});
    std::vector<HostSegments> found(submitters_.size());
    run_parallel(found.size(), default_threads(), [&](std::size_t i, unsigned) {
        found[i] = HostMeaning(trace, loaders).segments(timeline, submitters_[i]);
        auto asleep = sleeps.of_thread.find(submitters_[i]);
        if (asleep != sleeps.of_thread.end()) found[i] = SleepCutter(asleep->second).cut(found[i]);
    });
    for (std::size_t i = 0; i < found.size(); ++i) segments_[submitters_[i]] = std::move(found[i]);
    record_cost_ = record_cost(trace.origin().recorder_of_work());
    const PythonCallTable& calls = trace.tables().python_call;
    for (Row row = 0; row < calls.rows && record_cost_.python_call > 0; ++row)
        if (StringId thread = calls.thread.value_or(row, kNoString); segments_.contains(thread))
            python_calls_[thread].push_back(calls.start[row]);
}

DurNs HostStates::recording(StringId thread, Interval part, const HostSegment* segment) const {
    double cost = 0;
    if (segment != nullptr)
        cost = static_cast<double>(record_cost_.op_or_call) * segment->records * static_cast<double>(part.length()) /
               static_cast<double>(segment->end - segment->start);
    auto found = python_calls_.find(thread);
    if (found == python_calls_.end()) return static_cast<DurNs>(cost);
    auto before = [&](TimeNs time) { return std::lower_bound(found->second.begin(), found->second.end(), time); };
    auto calls = static_cast<double>(before(part.end) - before(part.start));
    return static_cast<DurNs>(cost + static_cast<double>(record_cost_.python_call) * calls);
}

std::size_t first_after(const HostSegments& segments, TimeNs time, std::size_t& hint) {
    std::size_t low = std::min(hint, segments.size());
    if (low > 0 && segments.end(low - 1) > time) low = 0;
    std::size_t high = low;
    for (std::size_t step = 1; high < segments.size() && segments.end(high) <= time; step *= 2) {
        low = high + 1;
        high += step;
    }
    high = std::min(high, segments.size());
    while (low < high) {
        std::size_t middle = low + (high - low) / 2;
        if (segments.end(middle) > time)
            high = middle;
        else
            low = middle + 1;
    }
    return hint = low;
}

}  // namespace gpuprof::facts
