#include "ranks/reduce/kinds_by_range.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

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

}  // namespace gpuprof::ranks
