#include "ranks/reduce/host_leads.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/call_kind.h"
#include "ranks/reduce/host_input.h"

namespace gpuprof::inline ranks {
namespace {

// A synchronisation that returns at once did not wait. A launch or copy that takes this long waited for room in the
// queue.
constexpr DurNs kWaited = 20'000, kQueueFull = 100'000;

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
    IntervalSet input = loader_ranges(trace);
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
