#include "ranks/reduce/collective_launches.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
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
    DurNs dur;
};
using LaunchedWork = LargeVector<Launched>;  // of one stream, by launch; each with the last end until then

bool launched_before(const Launched& each, TimeNs launch) { return each.launch < launch; }

// Kernels of a device that are none of the points, by stream; that with most kernel time first.
std::vector<LaunchedWork> launched_work(const Trace& trace, std::int32_t device,
                                        std::span<const RankCollective> points) {
    const KernelTable& kernels = trace.kernel();
    std::vector<bool> collective(kernels.rows, false);
    for (const RankCollective& point : points) collective[point.kernel] = true;
    std::map<std::int64_t, LaunchedWork> by_stream;
    for (Row row = 0; row < kernels.rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        if (call != kNoRow && kernels.device.value_or(row, -1) == device && !collective[row])
            by_stream[kernels.stream.value_or(row, -1)].push_back(
                {trace.api_call().start[call], kernels.start[row] + kernels.dur[row], kernels.dur[row]});
    }
    std::vector<std::pair<DurNs, LaunchedWork>> found;
    for (auto& [stream, work] : by_stream) {
        std::sort(work.begin(), work.end(), [](const Launched& a, const Launched& b) { return a.launch < b.launch; });
        DurNs whole = work[0].dur;
        for (std::size_t i = 1; i < work.size(); ++i) {
            work[i].end = std::max(work[i].end, work[i - 1].end);
            whole += work[i].dur;
        }
        found.emplace_back(whole, std::move(work));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<LaunchedWork> sorted;
    for (auto& [whole, work] : found) sorted.push_back(std::move(work));
    return sorted;
}

// The last end of work that was launched before, of what had ended by `start`.
std::optional<TimeNs> end_before(const LaunchedWork& work, TimeNs launch, TimeNs start) {
    auto launched = std::lower_bound(work.begin(), work.end(), launch, launched_before);
    auto later = std::upper_bound(work.begin(), launched, start,
                                  [](TimeNs time, const Launched& each) { return time < each.end; });
    return later == work.begin() ? std::nullopt : std::optional(std::prev(later)->end);
}

// Whether work that was launched before ended clearly later than `start`.
bool overtakes(const LaunchedWork& work, TimeNs launch, TimeNs start) {
    auto launched = std::lower_bound(work.begin(), work.end(), launch, launched_before);
    return launched != work.begin() && std::prev(launched)->end > start + kBackToBack;
}

// A CUDA graph launches its kernels by one call, which tells nothing about their order.
bool launches_work(const std::vector<LaunchedWork>& streams, TimeNs launch) {
    return std::any_of(streams.begin(), streams.end(), [&](const LaunchedWork& work) {
        auto at = std::lower_bound(work.begin(), work.end(), launch, launched_before);
        return at != work.end() && at->launch == launch;
    });
}

}  // namespace

void find_needed_work(const Facts& facts, std::int32_t device, std::size_t first, LargeVector<RankCollective>& points) {
    if (first == points.size()) return;
    const Trace& trace = facts.trace();
    std::vector<LaunchedWork> streams = launched_work(trace, device, std::span(points).subspan(first));
    std::map<std::int64_t, std::size_t> last_on;  // by stream
    for (std::size_t i = first; i < points.size(); ++i) {
        RankCollective& point = points[i];
        const TimeNs start = point.span.start;
        point.needed = start;
        auto [before, none] = last_on.try_emplace(point.stream, i);
        if (!none && point.stream >= 0) {
            DurNs pause = start - points[before->second].span.end;
            point.queued = pause >= 0 && pause < kBackToBack;
        }
        Row call = trace.links().kernel_launch[point.kernel];
        TimeNs launch = call == kNoRow ? 0 : trace.api_call().start[call];
        bool ordered = call != kNoRow && !streams.empty() && !launches_work(streams, launch);
        if (ordered) {
            std::optional<TimeNs> last;
            for (const LaunchedWork& work : streams) last = std::max(last, end_before(work, launch, start));
            point.needed = last.value_or(std::numeric_limits<TimeNs>::min());
            ordered = !overtakes(streams.front(), launch, start);
        }
        if (!ordered && point.queued) point.needed = std::min(point.needed, points[before->second].needed);
        before->second = i;
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
