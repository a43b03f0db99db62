// `limits`: what holds each measured kernel back, in a sentence. One row per name and launch shape, judged by its longest launch.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kLimitsColumns[] = {
    {"kernel", CellType::text, Unit::none, "Handle of the kernel: `report FILE kernel k-1` shows its counters."},
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"blocks", CellType::integer, Unit::count, "Blocks of the grid."},
    {"threads", CellType::integer, Unit::count, "Threads per block."},
    {"launches", CellType::integer, Unit::count, "Number of launches with counters."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of their durations."},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of all launches with counters."},
    {"limit", CellType::text, Unit::none,
     "DRAM-bound, L2-bound, L1-bound, memory-bound, compute-bound, latency-bound or cannot tell."},
    {"compute_pct", CellType::real, Unit::percent, "Busiest part of the multiprocessors, as a share of its peak."},
    {"memory_pct", CellType::real, Unit::percent,
     "Busiest part of the caches and device memory, as a share of its peak."},
    {"occupancy_pct", CellType::real, Unit::percent, "Achieved occupancy."},
    {"finding", CellType::text, Unit::none, "Rule of the finding to act on first."},
    {"gain_pct", CellType::real, Unit::percent, "What acting on it saves of the duration, at most."},
    {"because", CellType::text, Unit::none, "What holds it back, in a sentence."},
    {"launch", CellType::integer, Unit::none, "Number of the launch that was judged: the longest."},
};

Result<ResultTable> limits_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    const std::vector<KernelProfile>& profiles = facts.get<KernelProfiles>().profiles;
    const std::vector<KernelDiagnosis>& diagnoses = facts.get<KernelDiagnoses>().diagnoses;
    ResultTable table("limits", kLimitsColumns);
    double all = 0;
    for (const MeasuredGroup& group : measured.groups) all += group.total_ns;
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const MeasuredGroup& group = measured.groups[i];
        const KernelProfile& profile = profiles[i];
        const KernelDiagnosis& diagnosis = diagnoses[i];
        auto pct = [](const std::optional<Throughput>& throughput) {
            return throughput ? real(throughput->pct) : kAbsent;
        };
        const KernelFinding* first = diagnosis.findings.empty() ? nullptr : &diagnosis.findings.front();
        table.add_row(
            {std::string_view(group.handle), text_cell(trace, group.name), count_cell(profile[KernelMetric::grid_size]),
             count_cell(profile[KernelMetric::block_size]), integer(group.launches.size()),
             group.total_ns > 0 ? integer(static_cast<std::int64_t>(group.total_ns)) : kAbsent,
             all > 0 ? percent(group.total_ns, all) : kAbsent, name_of(profile.limit), pct(profile.compute),
             pct(profile.memory), real(profile.fit.achieved_pct), first == nullptr ? kAbsent : Cell{first->rule},
             first == nullptr ? kAbsent : real(first->gain_pct), std::string_view(diagnosis.sentence),
             integer(trace.tables().profiled_kernel.launch.get(measured.launches[group.longest].row))});
    }
    auto unmatched = std::count(measured.match.names.begin(), measured.match.names.end(), kNoString);
    if (trace.kernel().rows > 0 && unmatched > 0)
        table.notes.push_back(
            fmt::format("{} of {} kernels with counters match no kernel of the timeline: their name, grid or "
                        "block differs.",
                        unmatched, measured.groups.size()));
    if (measured.groups.empty())
        table.notes.push_back(
            "No counters of kernels were recorded; gpu-profile counters -- CMD or ncu --csv --page raw "
            "collects them.");
    return table;
}

}  // namespace

const Analysis kLimits{"limits", "", "Per kernel with counters: what holds it back.", kLimitsColumns, limits_table};

}  // namespace gpuprof::tables
