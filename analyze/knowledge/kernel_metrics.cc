#include "analyze/knowledge/kernel_metrics.h"

#include <array>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::inline knowledge {
namespace {

#define GPUPROF_NAMES(id, section, label, unit, doc, ...) constexpr std::string_view kNames_##id[] = {__VA_ARGS__};
GPUPROF_KERNEL_METRICS(GPUPROF_NAMES)
#undef GPUPROF_NAMES

constexpr KernelMetricSpec kMetrics[] = {
#define GPUPROF_SPEC(id, section, label, unit, doc, ...) \
    {KernelMetric::id, MetricSection::section, label, unit, doc, kNames_##id},
    GPUPROF_KERNEL_METRICS(GPUPROF_SPEC)
#undef GPUPROF_SPEC
};

constexpr ThroughputPart kComputeParts[] = {
#define GPUPROF_PART(id, name, vendor) {KernelMetric::part_##id, name, vendor, std::nullopt},
    GPUPROF_COMPUTE_PARTS(GPUPROF_PART)
#undef GPUPROF_PART
};

constexpr ThroughputPart kMemoryParts[] = {
#define GPUPROF_PART(id, level, name, vendor) {KernelMetric::part_##id, name, vendor, MemoryLevel::level},
    GPUPROF_MEMORY_PARTS(GPUPROF_PART)
#undef GPUPROF_PART
};

constexpr StallReason kStalls[] = {
#define GPUPROF_STALL(id, in_samples, waits_for, remedy) \
    {KernelMetric::stall_##id, KernelMetric::samples_##id, #id, waits_for, remedy},
    GPUPROF_STALLS(GPUPROF_STALL)
#undef GPUPROF_STALL
};

// Every name with the unit of its metric, which a label must have exactly.
struct NamedMetric {
    std::string_view unit;
    bool exact;
    KnownMetric known;
};
using Names = std::unordered_multimap<std::string, NamedMetric>;

Names all_names() {
    Names names;
    for (const KernelMetricSpec& spec : kMetrics)
        for (std::size_t i = 0; i < spec.names.size(); ++i) {
            // Labels repeat with other units; the vendor's own names do not.
            bool is_label = spec.names[i].find("__") == std::string_view::npos;
            names.emplace(spec.names[i], NamedMetric{spec.unit, is_label && !spec.unit.empty(), {spec.metric, i}});
        }
#define GPUPROF_PART(id, name, vendor) names.emplace(vendor, NamedMetric{"%", false, {KernelMetric::part_##id, 0}});
    GPUPROF_COMPUTE_PARTS(GPUPROF_PART)
#undef GPUPROF_PART
#define GPUPROF_PART(id, level, name, vendor) \
    names.emplace(vendor, NamedMetric{"%", false, {KernelMetric::part_##id, 0}});
    GPUPROF_MEMORY_PARTS(GPUPROF_PART)
#undef GPUPROF_PART
#define GPUPROF_STALL(id, in_samples, ...)                                            \
    names.emplace("smsp__average_warps_issue_stalled_" #id "_per_issue_active.ratio", \
                  NamedMetric{"", false, {KernelMetric::stall_##id, 0}});             \
    names.emplace("smsp__pcsamp_warps_issue_stalled_" in_samples,                     \
                  NamedMetric{"", false, {KernelMetric::samples_##id, 0}});
    GPUPROF_STALLS(GPUPROF_STALL)
#undef GPUPROF_STALL
    return names;
}

// Whether a value of one unit can be a metric of the other: a time or a rate is nothing else. Tools that leave the unit
// out mean the base unit, and Nsight Compute prints "Tbyte" for some rates that it derives.
bool fits(std::string_view spec, std::string_view unit) {
    auto is_rate = [](std::string_view name) { return name == "hz" || name.ends_with("/s"); };
    return unit.empty() || spec == std::string(unit) + "/s" ||
           (is_rate(spec) == is_rate(unit) && (spec == "ns") == (unit == "ns"));
}

}  // namespace

std::string_view name_of(MetricSection section) {
    constexpr std::string_view kNames[] = {"speed of light", "compute",      "memory", "scheduler",
                                           "warp state",     "instructions", "launch", "occupancy",
                                           "distribution",   "source",       "stalls", "roofline"};
    return kNames[static_cast<std::size_t>(section)];
}

std::string_view name_of(MemoryLevel level) {
    constexpr std::string_view kNames[] = {"L1", "L2", "DRAM"};
    return kNames[static_cast<std::size_t>(level)];
}

std::span<const KernelMetricSpec> kernel_metrics() { return kMetrics; }
std::span<const ThroughputPart> compute_parts() { return kComputeParts; }
std::span<const ThroughputPart> memory_parts() { return kMemoryParts; }
std::span<const StallReason> stall_reasons() { return kStalls; }

const StallReason* find_stall(std::string_view name) {
#define GPUPROF_STALL(id, in_samples, waits_for, remedy) in_samples,
    constexpr std::string_view kInSamples[] = {GPUPROF_STALLS(GPUPROF_STALL)};
#undef GPUPROF_STALL
    for (std::size_t i = 0; i < std::size(kStalls); ++i)
        if (kStalls[i].name == name || kInSamples[i] == name) return &kStalls[i];
    return nullptr;
}

std::vector<KnownMetric> find_kernel_metrics(std::string_view name, std::string_view base_unit) {
    static const Names kNames = all_names();
    auto [first, last] = kNames.equal_range(std::string(name));
    std::vector<KnownMetric> found;
    for (; first != last; ++first)
        if (first->second.exact ? first->second.unit == base_unit : fits(first->second.unit, base_unit))
            found.push_back(first->second.known);
    return found;
}

}  // namespace gpuprof::knowledge
