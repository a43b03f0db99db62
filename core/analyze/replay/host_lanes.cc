#include "core/analyze/replay/host_lanes.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/submitters.h"
#include "core/analyze/knowledge/call_kind.h"
#include "core/analyze/knowledge/loader_name.h"
#include "core/analyze/knowledge/record_cost.h"

namespace gpuprof {
namespace {

constexpr std::uint16_t kNoLane = 0xFFFFu;
// Longer lists of activity are not compared: a recording of this size has more threads than autograd's to explain.
constexpr std::size_t kMaxBounds = 50'000'000;

// The lane of each thread, by string id.
class LaneOf {
public:
    LaneOf(const Trace& trace, const std::vector<HostLane>& lanes) : lane_(trace.strings().size(), kNoLane) {
        for (std::size_t i = 0; i < lanes.size(); ++i) lane_[index_of(lanes[i].thread)] = static_cast<std::uint16_t>(i);
    }
    std::uint16_t operator[](StringId thread) const { return thread == kNoString ? kNoLane : lane_[index_of(thread)]; }

private:
    std::vector<std::uint16_t> lane_;
};

void add_calls(const Trace& trace, const LaneOf& lane_of, HostLanes& host) {
    const ApiCallTable& calls = trace.api_call();
    std::vector<std::optional<CallKind>> kinds(trace.strings().size());
    std::vector<Row> outermost(host.lanes.size(), kNoRow);
    for (Row row = 0; row < calls.rows; ++row) {
        std::uint16_t at = lane_of[calls.thread.value_or(row, kNoString)];
        if (at == kNoLane) continue;
        HostLane& lane = host.lanes[at];
        TimeNs start = calls.start[row], end = start + calls.dur[row];
        if (!lane.time.empty() && start < lane.time.back()) {
            if (host.outer_call.empty())
                for (Row each = 0; each < calls.rows; ++each) host.outer_call.push_back(each);
            host.outer_call[row] = outermost[at];
            continue;
        }
        outermost[at] = row;
        StringId name = calls.name.value_or(row, kNoString);
        CallKind kind = CallKind::other;
        if (name != kNoString) {
            std::optional<CallKind>& known = kinds[index_of(name)];
            if (!known) known = kind_of_call(trace.text(name));
            kind = *known;
        }
        PointInfo info{.lane = at, .kind = PointKind::call_start, .call = kind};
        lane.time.push_back(start), lane.info.push_back(info), lane.object.push_back(row);
        info.kind = PointKind::call_end;
        lane.time.push_back(end), lane.info.push_back(info), lane.object.push_back(row);
    }
}

// Spans that fetch input, by lane: those that the user names, or data loaders.
std::vector<IntervalSet> input_of(const Trace& trace, const LaneOf& lane_of, std::size_t lanes,
                                  std::string_view named) {
    std::vector<Intervals> found(lanes);
    std::vector<char> known(trace.strings().size(), 0);
    auto collect = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row) {
            StringId name = table.name.value_or(row, kNoString);
            std::uint16_t lane = lane_of[table.thread.value_or(row, kNoString)];
            if (name == kNoString || lane == kNoLane) continue;
            char& loader = known[index_of(name)];
            if (loader == 0)
                loader = (named.empty() ? names_loader(trace.text(name)) : trace.text(name) == named) ? 2 : 1;
            if (loader == 2) found[lane].push_back({table.start[row], table.start[row] + table.dur[row]});
        }
    };
    collect(trace.range());
    collect(trace.op());
    collect(trace.tables().python_call);
    std::vector<IntervalSet> sets;
    for (Intervals& each : found) sets.push_back(unite(std::move(each)));
    return sets;
}

void add_cuts(HostLane& lane, std::uint16_t at, std::vector<TimeNs> cuts) {
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    if (cuts.empty()) return;
    HostLane merged{.thread = lane.thread, .time = {}, .info = {}, .object = {}, .work = {}};
    std::size_t next = 0;
    auto add_until = [&](TimeNs time) {
        for (; next < cuts.size() && cuts[next] < time; ++next) {
            merged.time.push_back(cuts[next]), merged.object.push_back(kNoRow);
            merged.info.push_back({.lane = at, .kind = PointKind::cut});
        }
    };
    for (std::size_t i = 0; i < lane.time.size(); ++i) {
        add_until(lane.time[i]);
        merged.time.push_back(lane.time[i]), merged.info.push_back(lane.info[i]);
        merged.object.push_back(lane.object[i]);
    }
    add_until(std::numeric_limits<TimeNs>::max());
    lane = std::move(merged);
}

void mark(HostLane& lane, const IntervalSet& within, auto&& set) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < lane.time.size(); ++i) {
        while (at < within.size() && within[at].end < lane.time[i]) ++at;
        if (at == within.size()) return;
        if (lane.time[i] > within[at].start) set(lane.info[i]);
    }
}

std::vector<ThreadActivity> activity_of(const Trace& trace, const LaneOf& lane_of, std::size_t lanes) {
    std::vector<ThreadActivity> threads(lanes);
    auto collect = [&](const auto& table, IntervalSet ThreadActivity::*into) {
        for (Row row = 0; row < table.rows; ++row) {
            std::uint16_t lane = lane_of[table.thread.value_or(row, kNoString)];
            if (lane == kNoLane) continue;
            Interval span{table.start[row], table.start[row] + table.dur[row]};
            threads[lane].bounds.push_back(span.start), threads[lane].bounds.push_back(span.end);
            if (into != nullptr) add_merged(threads[lane].*into, span);
        }
    };
    collect(trace.api_call(), &ThreadActivity::calls);
    collect(trace.op(), &ThreadActivity::active);
    collect(trace.range(), nullptr);
    collect(trace.tables().python_call, nullptr);
    for (ThreadActivity& thread : threads) {
        thread.active = unite(thread.active, thread.calls);
        std::sort(thread.bounds.begin(), thread.bounds.end());
    }
    return threads;
}

// The first lane may hand over to others, and they back.
void find_dependences(const Trace& trace, const LaneOf& lane_of, HostLanes& host) {
    if (host.lanes.size() < 2) return;
    std::size_t bounds = 2 * (std::size_t{trace.api_call().rows} + trace.op().rows + trace.range().rows +
                              trace.tables().python_call.rows);
    std::vector<ThreadActivity> threads;
    if (bounds <= kMaxBounds) threads = activity_of(trace, lane_of, host.lanes.size());
    std::vector<bool> depends(host.lanes.size());
    auto add = [&](std::size_t from, std::size_t to) {
        std::vector<HandOver> found = find_hand_overs(threads[from], threads[to]);
        for (HandOver& each : found) each.from = from, each.to = to;
        if (found.empty()) return;
        depends[from] = depends[to] = true;
        host.hand_overs.insert(host.hand_overs.end(), found.begin(), found.end());
    };
    for (std::size_t i = 0; i + 1 < threads.size(); ++i)
        for (std::size_t j = i + 1; j < threads.size() && host.lanes.size() <= 8; ++j) {
            // Either may be the one that waits: autograd's thread may submit more than the main thread.
            std::size_t before = host.hand_overs.size();
            add(i, j);
            if (host.hand_overs.size() == before) add(j, i);
        }
    for (std::size_t i = 0; i < host.lanes.size(); ++i)
        if (!depends[i]) host.independent.push_back(host.lanes[i].thread);
    if (!depends[0] && !host.independent.empty()) host.independent.erase(host.independent.begin());
}

// Marks the points of a hand-over: after them the receiving thread, and then the pausing one, only had to wait.
void mark_pauses(HostLanes& host) {
    auto idle_at = [&](std::size_t lane_index, TimeNs time) {
        HostLane& lane = host.lanes[lane_index];
        auto at = std::lower_bound(lane.time.begin(), lane.time.end(), time);
        if (at != lane.time.end() && *at == time)
            lane.info[static_cast<std::size_t>(at - lane.time.begin())].idle = true;
    };
    for (const HandOver& each : host.hand_overs) {
        idle_at(each.to, each.work.start);
        idle_at(each.from, each.pause.end);
    }
}

// Counts the recorder's work before each point.
class WorkCounter {
public:
    WorkCounter(const LaneOf& lane_of, HostLanes& host) : lane_of_(lane_of), host_(host), at_(host.lanes.size()) {
        for (HostLane& lane : host.lanes) lane.work.resize(lane.time.size(), RecordedWork{});
    }
    void count(const auto& table, const Column<TimeNs>& times, auto&& add) {
        std::fill(at_.begin(), at_.end(), 0);
        for (Row row = 0; row < table.rows; ++row) {
            std::uint16_t lane = lane_of_[table.thread.value_or(row, kNoString)];
            if (lane == kNoLane) continue;
            const PodVector<TimeNs>& time = host_.lanes[lane].time;
            std::size_t& at = at_[lane];
            while (at < time.size() && time[at] <= times[row]) ++at;
            if (at < time.size()) add(host_.lanes[lane].work[at], row);
        }
    }

private:
    const LaneOf& lane_of_;
    HostLanes& host_;
    std::vector<std::size_t> at_;
};

// Calls that were recorded, and paid for, but are not in the file: recorders number calls consecutively.
std::vector<std::uint32_t> hidden_before(const ApiCallTable& calls) {
    std::vector<std::uint32_t> hidden(calls.rows, 0);
    std::vector<std::pair<std::int64_t, Row>> ids;
    for (Row row = 0; row < calls.rows; ++row)
        if (calls.correlation.has(row)) ids.push_back({calls.correlation[row], row});
    if (ids.size() < calls.rows) return hidden;
    if (!std::is_sorted(ids.begin(), ids.end())) std::sort(ids.begin(), ids.end());
    constexpr std::int64_t kRestarted = 1'000'000;  // numbers of another process or part
    for (std::size_t i = 1; i < ids.size(); ++i) {
        std::int64_t missing = ids[i].first - ids[i - 1].first - 1;
        if (missing > 0 && missing < kRestarted) hidden[ids[i].second] = static_cast<std::uint32_t>(missing);
    }
    return hidden;
}

void count_work(const Trace& trace, const LaneOf& lane_of, HostLanes& host) {
    if (record_price(trace.origin().tool).call.central == 0) return;
    WorkCounter counter(lane_of, host);
    std::vector<std::uint32_t> hidden = hidden_before(trace.api_call());
    counter.count(trace.api_call(), trace.api_call().start, [](RecordedWork& work, Row) { ++work.calls; });
    // Hidden calls came before the visible one, in the host code in front of it.
    std::vector<std::size_t> start(host.lanes.size(), 0);
    for (Row row = 0; row < trace.api_call().rows; ++row) {
        std::uint16_t at = lane_of[trace.api_call().thread.value_or(row, kNoString)];
        if (at == kNoLane || hidden[row] == 0) continue;
        HostLane& lane = host.lanes[at];
        while (start[at] < lane.time.size() && lane.time[start[at]] < trace.api_call().start[row]) ++start[at];
        if (start[at] < lane.time.size()) lane.work[start[at]].calls += hidden[row];
    }
    const OverheadTable& overhead = trace.tables().overhead;
    auto op = [](RecordedWork& work, Row) { ++work.ops; };
    counter.count(trace.op(), trace.op().start, op);
    counter.count(trace.range(), trace.range().start, op);
    counter.count(trace.tables().python_call, trace.tables().python_call.start,
                  [](RecordedWork& work, Row) { ++work.python; });
    counter.count(trace.tables().memory_event, trace.tables().memory_event.time,
                  [](RecordedWork& work, Row) { ++work.memory; });
    counter.count(overhead, overhead.start,
                  [&](RecordedWork& work, Row row) { work.overhead_ns += overhead.dur[row]; });
}

}  // namespace

HostLanes HostLanes::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    HostLanes host;
    Steps ranges = find_range_steps(facts);
    host.host_steps = ranges.steps.size() > 1;
    host.steps = host.host_steps ? ranges.steps : facts.get<Steps>().steps;
    host.step_thread = host.host_steps ? ranges.thread : kNoString;
    std::vector<StringId> threads = facts.get<Submitters>().threads();
    if (host.step_thread != kNoString && std::find(threads.begin(), threads.end(), host.step_thread) == threads.end())
        threads.push_back(host.step_thread);
    if (threads.size() > kMaxLanes) return host;
    for (StringId thread : threads)
        host.lanes.push_back({.thread = thread, .time = {}, .info = {}, .object = {}, .work = {}});
    LaneOf lane_of(trace, host.lanes);
    add_calls(trace, lane_of, host);
    std::vector<IntervalSet> input = input_of(trace, lane_of, host.lanes.size(), facts.options().input_range);
    find_dependences(trace, lane_of, host);
    std::vector<std::vector<TimeNs>> cuts(host.lanes.size());
    for (std::size_t i = 0; i < host.lanes.size(); ++i)
        for (const Interval& each : input[i]) cuts[i].push_back(each.start), cuts[i].push_back(each.end);
    for (const HandOver& each : host.hand_overs) {
        for (TimeNs time : {each.pause.start, each.pause.end}) cuts[each.from].push_back(time);
        for (TimeNs time : {each.work.start, each.work.end}) cuts[each.to].push_back(time);
    }
    if (std::uint16_t lane = lane_of[host.step_thread]; lane != kNoLane)
        for (const Step& step : host.steps) cuts[lane].push_back(step.start), cuts[lane].push_back(step.end);
    IntervalSet in_steps;
    for (const Step& step : host.steps) add_merged(in_steps, {step.start, step.end});
    for (std::size_t i = 0; i < host.lanes.size(); ++i) {
        add_cuts(host.lanes[i], static_cast<std::uint16_t>(i), std::move(cuts[i]));
        mark(host.lanes[i], input[i], [](PointInfo& info) { info.in_input = true; });
        mark(host.lanes[i], in_steps, [](PointInfo& info) { info.in_step = true; });
    }
    mark_pauses(host);
    count_work(trace, lane_of, host);
    return host;
}

}  // namespace gpuprof
