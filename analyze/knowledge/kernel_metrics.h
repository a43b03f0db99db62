// The counters of a kernel that analyses know, whatever tool measured them: CUPTI's names, those of Nsight Compute's raw
// page, and the labels of its details page. Declared in kernel_metrics.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/knowledge/kernel_metrics.def"

namespace gpuprof::inline knowledge {

enum class MetricSection : std::uint8_t {
    speed_of_light,
    compute,
    memory,
    scheduler,
    warp_state,
    instructions,
    launch,
    occupancy,
    distribution,
    source,
    stalls,
    roofline,
};
// "speed of light", "warp state", ...
std::string_view name_of(MetricSection section);

// Where a kernel's data come from, nearest first.
enum class MemoryLevel : std::uint8_t { l1, l2, dram };
// "L1", "L2", "DRAM".
std::string_view name_of(MemoryLevel level);

enum class KernelMetric : std::uint16_t {
#define GPUPROF_ID(id, ...) id,
    GPUPROF_KERNEL_METRICS(GPUPROF_ID)
#undef GPUPROF_ID
#define GPUPROF_ID(id, ...) part_##id,
        GPUPROF_COMPUTE_PARTS(GPUPROF_ID) GPUPROF_MEMORY_PARTS(GPUPROF_ID)
#undef GPUPROF_ID
#define GPUPROF_ID(id, ...) stall_##id,
            GPUPROF_STALLS(GPUPROF_ID)
#undef GPUPROF_ID
#define GPUPROF_ID(id, ...) samples_##id,
                GPUPROF_STALLS(GPUPROF_ID)
#undef GPUPROF_ID
                    count_,
};
inline constexpr std::size_t kKernelMetrics = static_cast<std::size_t>(KernelMetric::count_);

struct KernelMetricSpec {
    KernelMetric metric;
    MetricSection section;
    std::string_view label, unit, doc;
    std::span<const std::string_view> names;  // in the order of preference
};
std::span<const KernelMetricSpec> kernel_metrics();  // of METRIC, in the order of their declaration

struct ThroughputPart {
    KernelMetric metric;
    std::string_view name, vendor_name;
    std::optional<MemoryLevel> level;  // absent: of the multiprocessors
};
std::span<const ThroughputPart> compute_parts();
std::span<const ThroughputPart> memory_parts();

struct StallReason {
    KernelMetric per_issue;  // warps stalled per issued instruction
    KernelMetric samples;    // warp samples
    std::string_view name, waits_for, remedy;
};
std::span<const StallReason> stall_reasons();
// By its name in counters or in samples, which differ for some; null if unknown.
const StallReason* find_stall(std::string_view name);

// The metrics that have this name, and how preferred the name is (0 first). Metrics of different units may share a
// label; the unit, a base unit (core/schema/counter_units.h), tells them apart. A part of a throughput may also be a metric of its own.
struct KnownMetric {
    KernelMetric metric;
    std::size_t rank;
};
std::vector<KnownMetric> find_kernel_metrics(std::string_view name, std::string_view base_unit);

}  // namespace gpuprof::knowledge
