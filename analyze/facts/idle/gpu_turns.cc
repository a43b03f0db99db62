#include "analyze/facts/idle/gpu_turns.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

// A context whose process has another number here (in a container, the driver knows another one) is the program's if this share of the
// device's kernels started in its turns: work starts only while its context has the device. None do in the turns of others; the share
// leaves room for clocks that differ a little at the ends of turns, and a process of the program with hardly any kernels is not accused.
constexpr double kMinOwnStarts = 0.001;

}  // namespace

GpuTurns GpuTurns::make(const Facts& facts) {
    GpuTurns found;
    const Trace& trace = facts.trace();
    const GpuSliceTable& turns = trace.tables().gpu_slice;
    if (turns.rows == 0) return found;
    std::set<std::int64_t> pids;
    const ProcessTable& processes = trace.tables().process;
    for (Row row = 0; row < processes.rows; ++row)
        if (processes.pid.has(row)) pids.insert(processes.pid[row]);

    struct Context {
        Intervals turns;
        bool own = false;
    };
    std::map<std::int32_t, std::map<std::int64_t, Context>> devices;
    for (Row row = 0; row < turns.rows; ++row) {
        Context& context = devices[turns.device.value_or(row, -1)][turns.context.value_or(row, -1)];
        context.turns.push_back({turns.start[row], turns.start[row] + turns.dur[row]});
        context.own |= turns.pid.has(row) && pids.contains(turns.pid[row]);
    }
    std::map<std::int32_t, std::vector<TimeNs>> starts;
    const KernelTable& kernels = trace.kernel();
    for (Row row = 0; row < kernels.rows; ++row) starts[kernels.device.value_or(row, -1)].push_back(kernels.start[row]);

    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        auto contexts = devices.find(device.device);
        auto begun = starts.find(device.device);
        if (contexts == devices.end() || begun == starts.end()) continue;
        IntervalSet all, own;
        for (auto& [id, context] : contexts->second) {
            IntervalSet had = unite(std::move(context.turns));
            std::size_t inside = 0;
            for (TimeNs start : begun->second) {
                auto turn = std::upper_bound(had.begin(), had.end(), start,
                                             [](TimeNs time, const Interval& each) { return time < each.end; });
                inside += turn != had.end() && turn->start <= start;
            }
            bool of_program =
                context.own || static_cast<double>(inside) >= kMinOwnStarts * static_cast<double>(begun->second.size());
            all = unite(all, had);
            if (of_program) own = unite(own, had);
        }
        IntervalSet judged = intersect(all, {trace.window()}), others = subtract(judged, own);
        found.recorded += length(judged);
        found.of_others += length(others);
        found.in_kernels += length(intersect(others, device.kernel()));
        found.others.emplace(device.device, std::move(others));
    }
    return found;
}

}  // namespace gpuprof::facts
