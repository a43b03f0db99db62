#include "ranks/reduce/collective_launches.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/host_names.h"
#include "ranks/reduce/host_input.h"
#include "ranks/thresholds.h"

namespace gpuprof::inline ranks {
namespace {

struct RangeLaunch {
    TimeNs time;
    RankCollective* point;
};
using Launches = std::map<StringId, std::vector<RangeLaunch>>;  // by thread, then time

bool is_unclear(const RankCollective& point) {
    return point.undescribed == Undescribed::no_record && point.kernel != kNoRow &&
           (point.message.kind == CollectiveKind::unknown || point.message.kind == CollectiveKind::send_recv);
}

Launches launches_of(const Trace& trace, LargeVector<RankCollective>& points) {
    Launches launches;
    const ApiCallTable& calls = trace.api_call();
    for (RankCollective& point : points) {
        if (!is_unclear(point)) continue;
        Row call = trace.links().kernel_launch[point.kernel];
        if (call != kNoRow && calls.thread.has(call))
            launches[calls.thread[call]].push_back({calls.start[call], &point});
    }
    for (auto& [thread, its] : launches)
        std::sort(its.begin(), its.end(), [](const RangeLaunch& a, const RangeLaunch& b) { return a.time < b.time; });
    return launches;
}

// `table`: of operators or ranges.
template <class Table>
void name_kinds(const Trace& trace, const Table& table, Launches& launches) {
    std::map<StringId, CollectiveKind> kinds;  // by name
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.name.has(row)) continue;
        auto [known, fresh] = kinds.try_emplace(table.name[row], CollectiveKind::unknown);
        if (std::string_view name = trace.text(table.name[row]); fresh && name.starts_with("nccl:"))
            known->second = collective_kind(name);
        if (known->second == CollectiveKind::unknown) continue;
        auto thread = launches.find(table.thread.value_or(row, kNoString));
        if (thread == launches.end()) continue;
        auto launch = std::lower_bound(thread->second.begin(), thread->second.end(), table.start[row],
                                       [](const RangeLaunch& each, TimeNs start) { return each.time < start; });
        for (; launch != thread->second.end() && launch->time < table.start[row] + table.dur[row]; ++launch)
            launch->point->message.kind = known->second;
    }
}

}  // namespace

void name_kinds_by_range(const Trace& trace, LargeVector<RankCollective>& points) {
    Launches launches = launches_of(trace, points);
    if (launches.empty()) return;
    name_kinds(trace, trace.op(), launches);
    name_kinds(trace, trace.range(), launches);
}

namespace {

struct Launched {
    TimeNs launch, end;
};

// Kernels of a device that are none of the points, by launch; each with the last end of those until then.
LargeVector<Launched> launched_work(const Trace& trace, std::int32_t device, std::span<const RankCollective> points) {
    const KernelTable& kernels = trace.kernel();
    std::vector<bool> collective(kernels.rows, false);
    for (const RankCollective& point : points) collective[point.kernel] = true;
    LargeVector<Launched> found;
    for (Row row = 0; row < kernels.rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        if (call != kNoRow && kernels.device.value_or(row, -1) == device && !collective[row])
            found.push_back({trace.api_call().start[call], kernels.start[row] + kernels.dur[row]});
    }
    std::sort(found.begin(), found.end(), [](const Launched& a, const Launched& b) { return a.launch < b.launch; });
    for (std::size_t i = 1; i < found.size(); ++i) found[i].end = std::max(found[i].end, found[i - 1].end);
    return found;
}

}  // namespace

void find_overlapped_compute(const Facts& facts, const DeviceActivity& device, std::size_t first,
                             LargeVector<RankCollective>& points) {
    if (first == points.size()) return;
    const Trace& trace = facts.trace();
    LargeVector<Launched> work = launched_work(trace, device.device, std::span(points).subspan(first));
    for (std::size_t i = first; i < points.size(); ++i) {
        RankCollective& point = points[i];
        if (point.follows == kFollowsNothing) continue;
        Interval other = points[i - point.follows].span;
        Row call = trace.links().kernel_launch[point.kernel];
        if (call != kNoRow) {
            auto next = std::lower_bound(work.begin(), work.end(), trace.api_call().start[call],
                                         [](const Launched& each, TimeNs launch) { return each.launch < launch; });
            TimeNs needed = next == work.begin() ? std::numeric_limits<TimeNs>::min() : std::prev(next)->end;
            other.end = std::min(other.end, needed);
        } else if (point.queued) {
            continue;
        }
        if (other.start < other.end) point.overlapped_compute = length_within(device.compute, other);
    }
}

namespace {

// Ends of the host's waits for the device, ascending.
LargeVector<TimeNs> waits_of(const Trace& trace) {
    const ApiCallTable& calls = trace.api_call();
    std::map<StringId, DurNs> least;  // by name: duration of a call that waited; 0: it never does
    LargeVector<TimeNs> ends;
    for (Row row = 0; row < calls.rows; ++row) {
        if (!calls.name.has(row)) continue;
        auto [known, fresh] = least.try_emplace(calls.name[row], 0);
        if (fresh) {
            std::string_view name = trace.text(calls.name[row]);
            CallKind kind = kind_of_call(name);
            if (call_blocks(name))
                known->second = kWaited;
            else if (kind == CallKind::launch || kind == CallKind::copy || kind == CallKind::set)
                known->second = kQueueFull;
        }
        if (known->second > 0 && calls.dur[row] >= known->second) ends.push_back(calls.start[row] + calls.dur[row]);
    }
    std::sort(ends.begin(), ends.end());
    return ends;
}

}  // namespace

void find_leads(const Facts& facts, const OwnTimes& own, std::size_t first, LargeVector<RankCollective>& points) {
    const Trace& trace = facts.trace();
    LargeVector<TimeNs> waits = waits_of(trace);
    if (waits.empty()) return;
    IntervalSet input = loader_ranges(facts);
    LargeVector<std::size_t> by_end(points.size() - first);
    std::iota(by_end.begin(), by_end.end(), first);
    std::sort(by_end.begin(), by_end.end(),
              [&](std::size_t a, std::size_t b) { return points[a].span.end < points[b].span.end; });
    for (std::size_t i = first; i < points.size(); ++i) {
        RankCollective& point = points[i];
        Row call = point.kernel == kNoRow ? kNoRow : trace.links().kernel_launch[point.kernel];
        if (call == kNoRow) continue;
        TimeNs launched = trace.api_call().start[call];
        auto wait = std::upper_bound(waits.begin(), waits.end(), launched);
        if (wait == waits.begin()) continue;
        auto after = std::upper_bound(by_end.begin(), by_end.end(), *std::prev(wait),
                                      [&](TimeNs time, std::size_t other) { return time < points[other].span.end; });
        if (after == by_end.begin() || *std::prev(after) >= i) continue;
        std::size_t base = *std::prev(after);
        Interval part{points[base].span.end, launched};
        point.waited_for = static_cast<std::uint32_t>(i - base);
        point.lead = part.length() - own.unknown(part);
        point.lead_input = length_within(input, part);
    }
}

}  // namespace gpuprof::ranks
