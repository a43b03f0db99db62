// Steps on the device, by the launches of the host's steps; the header has the rules.
#include <algorithm>
#include <optional>

#include "core/analyze/facts/step_finder.h"

namespace gpuprof {
namespace {

constexpr double kLinked = 0.9;  // share of the kernels whose launch is known, at least

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
        "Steps go from the first kernel that a step of the host launched to the first of the next one, because the "
        "host "
        "runs ahead of the device; the last has no end and is left out.";
    return found;
}

}  // namespace gpuprof
