// Kernels that move data and compute little.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyze/facts/context.h"
#include "analyze/facts/kernels/op_rates.h"
#include "analyze/facts/kernels/speed_of_light.h"
#include "analyze/facts/practices.h"
#include "analyze/facts/shares.h"
#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinMemoryBoundKernelsPct = 10;  // percent of the effective window

std::string remedy_for_memory_bound_kernels(const Context& context, const Practices& practices, bool compiled) {
    if (context.pytorch())
        return fmt::format(
            "Reduce memory traffic: fuse neighbouring elementwise, normalisation and cast kernels ({}), {}avoid copies "
            "and "
            "casts.",
            compiled ? "Triton, fused layers" : "torch.compile, Triton, fused layers",
            practices.half_products ? "and " : "use bf16 or fp16 activations, and ");
    if (context.framework == Framework::jax)
        return fmt::format(
            "Reduce memory traffic: keep neighbouring operations under one jit so that XLA fuses them, {}avoid "
            "copies and transposes.",
            practices.half_products ? "and " : "use bf16, and ");
    return "Reduce memory traffic: fuse kernels that pass data to each other, use smaller types, keep data in shared "
           "memory or registers, and coalesce accesses.";
}

// Of the device's bandwidth that operators judged as moving data reach by their shapes, on average over their time.
double bandwidth_pct(const Facts& facts) {
    double weighted = 0, time = 0;
    for (const OpRate& rate : facts.get<OpRates>().rates) {
        if (rate.bound != Bound::memory || !rate.bandwidth_pct) continue;
        weighted += std::min(100.0, *rate.bandwidth_pct) * static_cast<double>(rate.device_ns);
        time += static_cast<double>(rate.device_ns);
    }
    return time > 0 ? weighted / time : 0;
}

Ruling look_for_memory_bound_kernels(const Facts& facts) {
    const Shares& shares = facts.get<Shares>();
    // What findings of their own explain.
    struct Pattern {
        DurNs (*part)(const Facts& facts, const KernelGroup& group);
        double least_pct;
    };
    std::vector<Pattern> explained{{attention_passes, kMinPatternPct},
                                   {casts_outside_attention, kMinPatternPct},
                                   {layout_changes, kMinFindingPct},
                                   {row_additions, kMinPatternPct}};
    std::erase_if(explained, [&](const Pattern& pattern) {
        KernelPart part = [&](const KernelGroup& group) { return pattern.part(facts, group); };
        return shares.effective_pct(busy_with(facts, part)) < pattern.least_pct;
    });
    KernelPart part = [&](const KernelGroup& group) {
        DurNs left = of_bound(group, Bound::memory);
        for (const Pattern& pattern : explained) left -= pattern.part(facts, group);
        return std::max<DurNs>(0, left);
    };
    Finding finding;
    finding.cost_ns = shares.kernel_of(Bound::memory);
    if (!explained.empty()) finding.cost_ns = std::min(finding.cost_ns, busy_with(facts, part));
    if (shares.effective_pct(finding.cost_ns) < kMinMemoryBoundKernelsPct)
        return shares.effective_pct(shares.kernel_of(Bound::unknown)) >= kMinMemoryBoundKernelsPct
                   ? Ruling::abstain(names_are_uninformative(facts))
                   : Ruling::silent();
    DurNs by_counters = 0, by_shapes = 0, by_compiler = 0, all = 0;
    for (const KernelGroup& group : facts.get<KernelGroups>().groups) {
        DurNs left = part(group);
        all += left;
        if (group.traits.kind == KernelClass::triton) by_compiler += left;
        by_counters += std::min(left, group.by_counters[static_cast<std::size_t>(Bound::memory)]);
        by_shapes += std::min(left, group.by_shapes[static_cast<std::size_t>(Bound::memory)]);
    }
    bool counted = 2 * by_counters > all;
    bool measured = counted || (2 * by_shapes > all && bandwidth_pct(facts) >= kNearPeak);
    std::string_view other = explained.empty() ? "Kernels" : "Other kernels";
    std::string_view which = measured ? "limited by memory bandwidth" : "that mostly move data";
    if (counted) which = "limited by memory or caches";
    finding.title = fmt::format("{} {} take {}", other, which, share_text(facts, finding.cost_ns));
    push_kernel_lines(facts, part, finding);
    const Practices& practices = facts.get<Practices>();
    finding.remedy =
        remedy_for_memory_bound_kernels(facts.get<Context>(), practices, practices.compiled || 4 * by_compiler > all);
    finding.confidence = measured ? Rating::high : Rating::medium;
    finding.basis = measured ? Basis::shapes : Basis::names;
    if (counted) finding.basis = Basis::counters;
    if (!measured) finding.evidence.push_back("judged by kernel names and launch shapes; no counters were recorded");
    finding.would_change_if = counted
                                  ? "the kernels run at other clocks or with other data than when they were measured"
                                  : "counters of these kernels show DRAM throughput far below its peak";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kMemoryBoundKernels{"memory-bound-kernels", "Kernels that move data and compute little.",
                               look_for_memory_bound_kernels, Effort::edit};

}  // namespace gpuprof::rules
