#include "analyze/replay/host_lanes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/loaders.h"
#include "analyze/facts/idle/submitters.h"
#include "analyze/knowledge/host_names.h"
#include "analyze/replay/recorded_work.h"

namespace gpuprof::inline replay {
namespace {

constexpr double kNearlyAll = 0.9;  // of B's activity must lie in visits
constexpr double kFilled = 0.5;     // of a pause must be B's work: A pauses for B, and not B inside any silence of A

bool in_call(const ThreadActivity& thread, Interval pause) {
    auto after = std::upper_bound(thread.calls.begin(), thread.calls.end(), pause.start,
                                  [](TimeNs time, const Interval& call) { return time < call.start; });
    return after != thread.calls.begin() && after[-1].end >= pause.end;
}

}  // namespace

void AscendingTimes::push_back(TimeNs time) {
    const TimeNs upper = time >> kBits;
    if (parts_.empty() || parts_.back().upper != upper) parts_.push_back({lower_.size(), upper});
    lower_.push_back(static_cast<std::uint32_t>(time));
}

TimeNs AscendingTimes::operator[](std::size_t i) const {
    auto after = std::upper_bound(parts_.begin(), parts_.end(), i,
                                  [](std::size_t place, const Part& part) { return place < part.first; });
    return after[-1].upper * (TimeNs{1} << kBits) + lower_[i];
}

std::size_t AscendingTimes::first_after(TimeNs time) const {
    auto after = std::upper_bound(parts_.begin(), parts_.end(), time >> kBits,
                                  [](TimeNs upper, const Part& part) { return upper < part.upper; });
    const std::size_t end = after == parts_.end() ? size() : after->first;
    if (after == parts_.begin() || after[-1].upper < time >> kBits) return end;
    const std::uint32_t* found =
        std::upper_bound(lower_.begin() + after[-1].first, lower_.begin() + end, static_cast<std::uint32_t>(time));
    return static_cast<std::size_t>(found - lower_.begin());
}

std::vector<HandOver> find_hand_overs(const ThreadActivity& a, const ThreadActivity& b) {
    std::vector<HandOver> found;
    DurNs covered = 0;
    std::size_t i = 0;
    while (i < b.bounds.size()) {
        // The pause of A that holds B's event: from A's last bound to its next.
        const std::size_t next = a.bounds.first_after(b.bounds[i]);
        if (next == 0 || next == a.bounds.size()) {
            ++i;
            continue;
        }
        Interval pause{a.bounds[next - 1], a.bounds[next]};
        std::size_t last = i;
        while (last + 1 < b.bounds.size() && b.bounds[last + 1] < pause.end) ++last;
        Interval work{b.bounds[i], b.bounds[last]};
        bool filled = static_cast<double>(work.length()) >= kFilled * static_cast<double>(pause.length());
        if (filled && pause.length() > 0 && !in_call(a, pause)) {
            found.push_back({0, 0, pause, work});
            covered += length_within(b.active(), work);
        }
        i = last + 1;
    }
    if (static_cast<double>(covered) < kNearlyAll * static_cast<double>(length(b.active()))) found.clear();
    return found;
}

namespace {

// Longer lists of activity are not compared: a recording of this size has more threads than autograd's to explain.
constexpr std::size_t kMaxBounds = 50'000'000;
constexpr std::size_t kMaxCompared = 8;  // lanes

void add_calls(const Trace& trace, const LaneOf& lane_of, HostLanes& host) {
    const ApiCallTable& calls = trace.api_call();
    host.kinds.resize(trace.strings().size());
    std::vector<Row> outermost(host.lanes.size(), kNoRow);
    for (Row row = 0; row < calls.rows; ++row) {
        std::uint16_t at = lane_of[calls.thread.value_or(row, kNoString)];
        if (at == LaneOf::kNone) continue;
        HostLane& lane = host.lanes[at];
        if (lane.size() > 0 && calls.start[row] < lane.time(lane.size() - 1)) {
            if (host.outer_call.empty())
                for (Row each = 0; each < calls.rows; ++each) host.outer_call.push_back(each);
            host.outer_call[row] = outermost[at];
            continue;
        }
        outermost[at] = row;
        if (StringId name = calls.name.value_or(row, kNoString); name != kNoString)
            if (std::optional<CallKind>& kind = host.kinds[index_of(name)]; !kind)
                kind = kind_of_call(trace.text(name));
        lane.points.push_back(2 * row);
        lane.points.push_back(2 * row + 1);
    }
}

// Spans that fetch input, by lane: those that the user names, or data loaders.
std::vector<IntervalSet> input_of(const Facts& facts, const LaneOf& lane_of, std::size_t lanes) {
    const Trace& trace = facts.trace();
    const Loaders& loaders = facts.get<Loaders>();
    const std::string& named = facts.options().input_range;
    StringId wanted = named.empty() ? kNoString : trace.strings().find(named);
    std::vector<Intervals> found(lanes);
    auto collect = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row) {
            StringId name = table.name.value_or(row, kNoString);
            std::uint16_t lane = lane_of[table.thread.value_or(row, kNoString)];
            if (name == kNoString || lane == LaneOf::kNone) continue;
            if (named.empty() ? loaders.has(name) : name == wanted)
                found[lane].push_back({table.start[row], table.start[row] + table.dur[row]});
        }
    };
    collect(trace.range());
    collect(trace.op());
    collect(trace.tables().python_call);
    std::vector<IntervalSet> sets;
    for (Intervals& each : found) sets.push_back(unite(std::move(each)));
    return sets;
}

void add_cuts(HostLane& lane, std::vector<TimeNs> cuts) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.empty()) return;
    PodVector<std::uint32_t> merged;
    merged.reserve(lane.size() + cuts.size());
    auto add_until = [&](TimeNs time) {
        for (; lane.cuts.size() < cuts.size() && cuts[lane.cuts.size()] < time;
             lane.cuts.push_back(cuts[lane.cuts.size()]))
            merged.push_back(HostLane::kCut | static_cast<std::uint32_t>(lane.cuts.size()));
    };
    for (std::size_t i = 0; i < lane.size(); ++i) {
        add_until(lane.time(i));
        merged.push_back(lane.points[i]);
    }
    add_until(std::numeric_limits<TimeNs>::max());
    lane.points = std::move(merged);
}

// Starts and ends of spans in order, from spans by start.
class BoundsInOrder {
public:
    explicit BoundsInOrder(AscendingTimes& bounds) : bounds_(bounds) {}
    void add(Interval span) {
        close_until(span.start);
        bounds_.push_back(span.start);
        auto at = open_.end();  // spans are nearly always nested
        while (at != open_.begin() && at[-1] < span.end) --at;
        open_.insert(at, span.end);
    }
    void close_until(TimeNs time) {
        for (; !open_.empty() && open_.back() <= time; open_.pop_back()) bounds_.push_back(open_.back());
    }

private:
    AscendingTimes& bounds_;
    std::vector<TimeNs> open_;  // ends, latest first
};

// A table of spans on host threads.
struct HostSpans {
    const Column<TimeNs>& start;
    const Column<DurNs>& dur;
    const Column<StringId>& thread;
    Row rows, at = 0;
    enum Kind { kCalls, kOps, kOthers } kind;  // of others, only the bounds count
    HostSpans(const auto& table, Kind of)
        : start(table.start), dur(table.dur), thread(table.thread), rows(static_cast<Row>(table.rows)), kind(of) {}
    TimeNs next() const { return at < rows ? start[at] : std::numeric_limits<TimeNs>::max(); }
};

std::vector<ThreadActivity> activity_of(const Trace& trace, const LaneOf& lane_of, std::size_t lanes) {
    std::vector<ThreadActivity> threads(lanes);
    std::vector<BoundsInOrder> bounds;
    for (ThreadActivity& thread : threads) bounds.emplace_back(thread.bounds);
    std::vector<bool> has_ops(lanes);
    HostSpans tables[] = {{trace.api_call(), HostSpans::kCalls},
                          {trace.op(), HostSpans::kOps},
                          {trace.range(), HostSpans::kOthers},
                          {trace.tables().python_call, HostSpans::kOthers}};
    while (true) {
        HostSpans& first = *std::min_element(std::begin(tables), std::end(tables),
                                             [](const auto& a, const auto& b) { return a.next() < b.next(); });
        if (first.at == first.rows) break;
        Row row = first.at++;
        std::uint16_t lane = lane_of[first.thread.value_or(row, kNoString)];
        if (lane == LaneOf::kNone) continue;
        Interval span{first.start[row], first.start[row] + first.dur[row]};
        bounds[lane].add(span);
        if (first.kind == HostSpans::kCalls) add_merged(threads[lane].calls, span);
        if (first.kind == HostSpans::kOps && span.length() > 0) has_ops[lane] = true;
        if (first.kind != HostSpans::kOthers && trace.op().rows > 0) add_merged(threads[lane].with_ops, span);
    }
    for (std::size_t i = 0; i < lanes; ++i) {
        bounds[i].close_until(std::numeric_limits<TimeNs>::max());
        if (!has_ops[i]) threads[i].with_ops = {};
    }
    return threads;
}

// Any of two lanes may hand over to the other, and get control back.
void find_dependences(const Trace& trace, const LaneOf& lane_of, HostLanes& host) {
    if (host.lanes.size() < 2) return;
    std::size_t bounds = 2 * (std::size_t{trace.api_call().rows} + trace.op().rows + trace.range().rows +
                              trace.tables().python_call.rows);
    std::vector<ThreadActivity> threads;
    if (bounds <= kMaxBounds && host.lanes.size() <= kMaxCompared)
        threads = activity_of(trace, lane_of, host.lanes.size());
    std::vector<bool> depends(host.lanes.size());
    auto add = [&](std::size_t from, std::size_t to) {
        std::vector<HandOver> found = find_hand_overs(threads[from], threads[to]);
        for (HandOver& each : found) {
            each.from = from;
            each.to = to;
        }
        if (found.empty()) return;
        depends[from] = depends[to] = true;
        host.hand_overs.insert(host.hand_overs.end(), found.begin(), found.end());
    };
    for (std::size_t i = 0; i + 1 < threads.size(); ++i)
        for (std::size_t j = i + 1; j < threads.size(); ++j) {
            // Either may be the one that waits: autograd's thread may submit more than the main thread.
            std::size_t before = host.hand_overs.size();
            add(i, j);
            if (host.hand_overs.size() == before) add(j, i);
        }
    for (std::size_t i = 0; i < host.lanes.size(); ++i)
        if (!depends[i]) host.independent.push_back(host.lanes[i].thread);
    if (!depends[0] && !host.independent.empty()) host.independent.erase(host.independent.begin());
}

}  // namespace

std::uint32_t HostLane::first_at(TimeNs wanted) const {
    auto found = std::partition_point(points.begin(), points.end(), [&](const std::uint32_t& point) {
        return time(static_cast<std::size_t>(&point - points.begin())) < wanted;
    });
    return static_cast<std::uint32_t>(found - points.begin());
}

std::uint32_t HostLane::last_at(TimeNs wanted) const {
    auto after = std::partition_point(points.begin(), points.end(), [&](const std::uint32_t& point) {
        return time(static_cast<std::size_t>(&point - points.begin())) <= wanted;
    });
    return static_cast<std::uint32_t>(after - points.begin()) - 1;
}

HostLanes HostLanes::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    HostLanes host;
    Steps ranges = find_range_steps(facts);
    host.host_steps = !ranges.steps.empty();
    host.steps = host.host_steps ? ranges.steps : facts.get<Steps>().steps;
    host.step_thread = host.host_steps ? ranges.thread : kNoString;
    std::vector<StringId> threads = facts.get<Submitters>().threads();
    if (host.step_thread != kNoString && std::find(threads.begin(), threads.end(), host.step_thread) == threads.end())
        threads.push_back(host.step_thread);
    if (threads.size() > kMaxLanes) return host;
    for (StringId thread : threads) {
        host.lanes.emplace_back().thread = thread;
        host.lanes.back().calls = &trace.api_call();
    }
    LaneOf lane_of(trace, threads);
    add_calls(trace, lane_of, host);
    std::vector<IntervalSet> input = input_of(facts, lane_of, host.lanes.size());
    find_dependences(trace, lane_of, host);
    std::vector<std::vector<TimeNs>> cuts(host.lanes.size());
    const auto& engines = facts.get<EngineStretches>().of_thread;
    for (std::size_t i = 0; i < host.lanes.size(); ++i) {
        if (auto engine = engines.find(host.lanes[i].thread); engine != engines.end())
            host.lanes[i].stretches = engine->second;
        for (const IntervalSet* spans :
             {&input[i], &host.lanes[i].stretches.sampling, &host.lanes[i].stretches.between})
            for (const Interval& each : *spans) {
                cuts[i].push_back(each.start);
                cuts[i].push_back(each.end);
            }
    }
    for (const HandOver& each : host.hand_overs) {
        for (TimeNs time : {each.pause.start, each.pause.end}) cuts[each.from].push_back(time);
        for (TimeNs time : {each.work.start, each.work.end}) cuts[each.to].push_back(time);
    }
    if (std::uint16_t lane = lane_of[host.step_thread]; lane != LaneOf::kNone)
        for (const Step& step : host.steps) {
            cuts[lane].push_back(step.start);
            cuts[lane].push_back(step.end);
        }
    for (const Step& step : host.steps) {
        if (!host.in_steps.empty() && host.in_steps.back().end < step.start)
            host.between_steps.push_back({host.in_steps.back().end, step.start});
        add_merged(host.in_steps, {step.start, step.end});
    }
    for (std::size_t i = 0; i < host.lanes.size(); ++i) {
        add_cuts(host.lanes[i], std::move(cuts[i]));
        host.lanes[i].input = std::move(input[i]);
    }
    return host;
}

}  // namespace gpuprof::replay
