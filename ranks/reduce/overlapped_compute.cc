#include "ranks/reduce/overlapped_compute.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace gpuprof::inline ranks {
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
        Interval beside = points[i - point.follows].span;
        Row call = trace.links().kernel_launch[point.kernel];
        if (call != kNoRow) {
            auto next = std::lower_bound(work.begin(), work.end(), trace.api_call().start[call],
                                         [](const Launched& each, TimeNs launch) { return each.launch < launch; });
            TimeNs needed = next == work.begin() ? std::numeric_limits<TimeNs>::min() : std::prev(next)->end;
            beside.end = std::min(beside.end, needed);
        } else if (point.queued) {
            continue;
        }
        if (beside.start < beside.end) point.overlapped_compute = length_within(device.compute, beside);
    }
}

}  // namespace gpuprof::ranks
