// Steps on the device, from the launches of the host's steps; the rules are in the header.
#include <algorithm>
#include <optional>

#include "analyze/facts/steps/step_finder.h"

namespace gpuprof::inline facts {
namespace {

constexpr double kLinked = 0.9;  // minimum share of kernels with a known launch

}  // namespace

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
        auto after = std::upper_bound(host.begin(), host.end(), launched,
                                      [](TimeNs time, const Step& step) { return time < step.start; });
        if (after == host.begin() || (after == host.end() && launched >= host.back().end)) continue;
        std::optional<TimeNs>& begin = begins[static_cast<std::size_t>(after - host.begin()) - 1];
        if (!begin) begin = kernels.start[row];
    }
    if (static_cast<double>(linked) < kLinked * static_cast<double>(stream.size())) return {};
    Steps found;
    for (std::size_t i = 0; i + 1 < host.size(); ++i) {
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
