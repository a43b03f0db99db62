// An optimizer that updates one tensor at a time: hundreds of small kernels per step.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"
#include "core/model/trace.h"

namespace gpuprof::inline rules {
namespace {

constexpr std::string_view kOptimizerRange =
    "Optimizer.step#";                  // torch.profiler's, with the optimizer's class after it
constexpr double kMinOptimizerPct = 5;  // percent of the effective window
// AdamW with foreach runs about 12 kernels per 60 tensors or so, one tensor at a time about 10 kernels per tensor.
constexpr double kMinKernelsPerUpdate = 60;

struct Update {
    Interval host, device;
    std::size_t kernels = 0;
};

// The updates of each thread, by start.
std::map<StringId, std::vector<Update>> updates_of(const Trace& trace, std::string& optimizer) {
    std::map<StringId, std::vector<Update>> updates;
    const RangeTable& ranges = trace.range();
    for (Row row = 0; row < ranges.rows; ++row) {
        std::string_view name = trace.text(ranges.name.value_or(row, kNoString));
        if (!name.starts_with(kOptimizerRange)) continue;
        updates[ranges.thread.value_or(row, kNoString)].push_back(
            {{ranges.start[row], ranges.start[row] + ranges.dur[row]}, {}, 0});
        if (!optimizer.empty()) continue;
        optimizer = name.substr(kOptimizerRange.size());
        optimizer = optimizer.substr(0, optimizer.rfind(".step"));
    }
    return updates;
}

void add_kernels(const Trace& trace, std::map<StringId, std::vector<Update>>& updates) {
    const KernelTable& kernels = trace.kernel();
    for (Row row = 0; row < kernels.rows; ++row) {
        Row call = trace.links().kernel_launch[row];
        if (call == kNoRow) continue;
        auto found = updates.find(trace.api_call().thread.value_or(call, kNoString));
        if (found == updates.end()) continue;
        TimeNs at = trace.api_call().start[call];
        auto after = std::upper_bound(found->second.begin(), found->second.end(), at,
                                      [](TimeNs time, const Update& update) { return time < update.host.start; });
        if (after == found->second.begin() || at >= std::prev(after)->host.end) continue;
        Update& update = *std::prev(after);
        Interval span{kernels.start[row], kernels.start[row] + kernels.dur[row]};
        update.device = update.kernels++ == 0 ? span
                                              : Interval{std::min(update.device.start, span.start),
                                                         std::max(update.device.end, span.end)};
    }
}

Ruling look_for_unfused_optimizer(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::string optimizer;
    std::map<StringId, std::vector<Update>> updates = updates_of(trace, optimizer);
    if (updates.empty() || facts.get<Practices>().foreach_optimizer) return Ruling::silent();
    if (trace.api_call().rows == 0)
        return Ruling::abstain("CUDA calls were not recorded, so the kernels of the optimizer are unknown");
    add_kernels(trace, updates);
    DurNs time = 0;
    std::size_t kernels = 0, count = 0;
    for (const auto& [thread, all] : updates)
        for (const Update& update : all)
            if (update.kernels > 0) time += update.device.end - update.device.start, kernels += update.kernels, ++count;
    const Shares& shares = facts.get<Shares>();
    if (count == 0 || static_cast<double>(kernels) < kMinKernelsPerUpdate * static_cast<double>(count) ||
        shares.effective_pct(time) < kMinOptimizerPct)
        return Ruling::silent();
    Finding finding;
    finding.cost_ns = time;
    finding.title = fmt::format("The optimizer updates one tensor at a time, for {} % of the time",
                                readable_percent(shares.pct(time)));
    finding.evidence.push_back(fmt::format("{} launches {} kernels per step, which take {} from the first to the last",
                                           optimizer, spoken_count(kernels / count),
                                           readable_duration(time / static_cast<DurNs>(count))));
    finding.remedy = fmt::format(
        "Update all tensors together: torch.optim.{}(..., fused=True), or foreach=True where there is no fused "
        "version.",
        optimizer);
    finding.confidence = Rating::high;
    finding.basis = Basis::timeline;
    finding.would_change_if = "the optimizer is not one of PyTorch's, or its tensors are on several devices or sparse";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kUnfusedOptimizer{"unfused-optimizer",
                             "An optimizer that updates one tensor at a time, with many small kernels.",
                             look_for_unfused_optimizer};

}  // namespace gpuprof::rules
