// Host steps and the device work that they launched: when it ran, and how far it lags behind. A host that submits faster
// than the device works has ranges that say nothing about the device; step_finder.h has the definitions.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/activity.h"
#include "analyze/facts/device_op.h"
#include "analyze/facts/steps/step_finder.h"

namespace gpuprof::inline facts {
namespace {

constexpr double kLinked = 0.9;  // minimum share of kernels with a known launch

// The busy time of a device before any time.
class BusyUntil {
public:
    explicit BusyUntil(const IntervalSet& busy) : busy_(busy) {
        DurNs sum = 0;
        for (const Interval& each : busy) {
            before_.push_back(sum);
            sum += each.length();
        }
    }
    DurNs operator()(TimeNs time) const {
        auto after = std::upper_bound(busy_.begin(), busy_.end(), time,
                                      [](TimeNs at, const Interval& each) { return at < each.start; });
        if (after == busy_.begin()) return 0;
        auto last = static_cast<std::size_t>(after - busy_.begin()) - 1;
        return before_[last] + std::min(time, busy_[last].end) - busy_[last].start;
    }

private:
    const IntervalSet& busy_;
    std::vector<DurNs> before_;
};

// What one device had still to do at the end of each step.
struct LeftOver {
    std::vector<DurNs> after;  // by step
    DurNs late = 0, all = 0;   // durations of the ops that the steps launched: what ran after their ranges, and all
    std::size_t linked = 0, ops = 0;
};

LeftOver left_over(const Trace& trace, const DeviceActivity& device, const std::vector<Step>& steps) {
    LeftOver found;
    std::vector<TimeNs> busy_until(steps.size(), 0);
    DeviceOps ops(trace, device.device);
    while (ops.next()) {
        ++found.ops;
        Row call = launch_of(trace, ops.kind(), ops.row());
        if (call == kNoRow) continue;
        ++found.linked;
        TimeNs launched = trace.api_call().start[call];
        auto [start, end] = ops.span();
        // The first step that ends after the launch; what was launched between two steps counts for the next one.
        auto first =
            static_cast<std::size_t>(std::upper_bound(steps.begin(), steps.end(), launched,
                                                      [](TimeNs at, const Step& step) { return at < step.end; }) -
                                     steps.begin());
        if (first == steps.size()) continue;
        busy_until[first] = std::max(busy_until[first], end);
        if (launched < steps[first].start) continue;
        found.all += end - start;
        found.late += std::max<DurNs>(0, end - std::max(start, steps[first].end));
    }
    BusyUntil busy(device.busy);
    TimeNs until = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        until = std::max(until, busy_until[i]);
        found.after.push_back(until > steps[i].end ? busy(until) - busy(steps[i].end) : 0);
    }
    return found;
}

}  // namespace

std::optional<StepBacklog> backlog_of(const Facts& facts, const Steps& ranges) {
    const std::vector<Step>& steps = ranges.steps;
    if (steps.empty()) return std::nullopt;
    double late = 0, all = 0, moved = 0, work = 0;
    std::size_t linked = 0, ops = 0;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        LeftOver found = left_over(facts.trace(), device, steps);
        late += static_cast<double>(found.late);
        all += static_cast<double>(found.all);
        linked += found.linked;
        ops += found.ops;
        work += static_cast<double>(length_within(device.busy, {steps.front().start, steps.back().end}));
        for (std::size_t i = 1; i < steps.size(); ++i)
            moved += static_cast<double>(std::abs(found.after[i] - found.after[i - 1]));
    }
    if (all <= 0 || work <= 0 || static_cast<double>(linked) < kLinked * static_cast<double>(ops)) return std::nullopt;
    return StepBacklog{100 * late / all, 100 * moved / work};
}

Steps find_launched_steps(const Facts& facts, const Steps& ranges) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    const std::vector<Step>& host = ranges.steps;
    if (host.size() < 2) return {};
    BusiestStream stream(kernels, facts.options().device);
    std::vector<std::optional<TimeNs>> begins(host.size());
    std::size_t linked = 0;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        Row row = stream[i];
        Row call = trace.links().kernel_launch[row];
        if (call == kNoRow) continue;
        ++linked;
        TimeNs launched = trace.api_call().start[call];
        if (launched >= host.back().end) continue;
        if (std::optional<std::size_t> step = last_step_before(host, launched); step && !begins[*step])
            begins[*step] = kernels.start[row];
    }
    if (static_cast<double>(linked) < kLinked * static_cast<double>(stream.size())) return {};
    std::size_t first = 0, end = host.size();
    while (first < end && !begins[first]) ++first;
    while (end > first && !begins[end - 1]) --end;
    Steps found;
    for (std::size_t i = first; i + 1 < end; ++i) {
        if (!begins[i] || !begins[i + 1] || *begins[i] >= *begins[i + 1]) return {};
        found.steps.push_back({host[i].name, *begins[i], *begins[i + 1]});
    }
    found.method = StepMethod::launched;
    found.family = ranges.family;
    found.note =
        "The host runs ahead of the device, so a step lasts from the first kernel that a host step launched to the "
        "first kernel of the next; the last step has no end and is omitted.";
    return found;
}

}  // namespace gpuprof::facts
