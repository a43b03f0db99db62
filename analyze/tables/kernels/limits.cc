// `limits`: what holds each measured kernel back, in a sentence. One row per name and launch shape, judged by its longest launch.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct LimitsRow {
    const Trace& trace;
    const MeasuredGroup& group;
    const MeasuredKernel& longest;
    const KernelProfile& profile;
    const KernelDiagnosis& diagnosis;
    double all_ns;  // of all groups

    const KernelFinding* first() const { return diagnosis.findings.empty() ? nullptr : &diagnosis.findings.front(); }
};

constexpr auto kLimitsColumns = columns_of<LimitsRow>({
    {"kernel", CellType::text, Unit::none, "Handle of the kernel: `report FILE kernel k-1` shows its counters.",
     [](auto& r) { return std::string_view(r.group.handle); }},
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"blocks", CellType::integer, Unit::count, "Blocks of the grid.",
     [](auto& r) { return count_cell(r.profile[KernelMetric::grid_size]); }},
    {"threads", CellType::integer, Unit::count, "Threads per block.",
     [](auto& r) { return count_cell(r.profile[KernelMetric::block_size]); }},
    {"launches", CellType::integer, Unit::count, "Number of launches with counters.",
     [](auto& r) { return r.group.launches.size(); }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of their durations.",
     [](auto& r) { return r.group.total_ns > 0 ? integer(static_cast<std::int64_t>(r.group.total_ns)) : kAbsent; }},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of all launches with counters.",
     [](auto& r) { return r.all_ns > 0 ? percent(r.group.total_ns, r.all_ns) : kAbsent; }},
    {"limit", CellType::text, Unit::none,
     "DRAM-bound, L2-bound, L1-bound, memory-bound, compute-bound, latency-bound or cannot tell.",
     [](auto& r) { return name_of(r.profile.limit); }},
    {"compute_pct", CellType::real, Unit::percent, "Busiest part of the multiprocessors, as a share of its peak.",
     [](auto& r) { return r.profile.compute ? real(r.profile.compute->pct) : kAbsent; }},
    {"memory_pct", CellType::real, Unit::percent,
     "Busiest part of the caches and device memory, as a share of its peak.",
     [](auto& r) { return r.profile.memory ? real(r.profile.memory->pct) : kAbsent; }},
    {"occupancy_pct", CellType::real, Unit::percent, "Achieved occupancy.",
     [](auto& r) { return r.profile.fit.achieved_pct; }},
    {"finding", CellType::text, Unit::none, "Rule of the finding to act on first.",
     [](auto& r) { return r.first() == nullptr ? kAbsent : Cell{r.first()->rule}; }},
    {"gain_pct", CellType::real, Unit::percent, "What acting on it saves of the duration, at most.",
     [](auto& r) { return r.first() == nullptr ? kAbsent : real(r.first()->gain_pct); }},
    {"because", CellType::text, Unit::none, "What holds it back, in a sentence.",
     [](auto& r) { return std::string_view(r.diagnosis.sentence); }},
    {"launch", CellType::integer, Unit::none, "Number of the launch that was judged: the longest.",
     [](auto& r) { return r.trace.tables().profiled_kernel.launch.get(r.longest.row); }},
});

Result<ResultTable> limits_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    const std::vector<KernelProfile>& profiles = facts.get<KernelProfiles>().profiles;
    const std::vector<KernelDiagnosis>& diagnoses = facts.get<KernelDiagnoses>().diagnoses;
    ResultTable table("limits", kLimitsColumns);
    table.wanted = {"total_ns", "share_pct", "limit", "compute_pct", "memory_pct", "finding", "gain_pct", "because"};
    double all = 0;
    for (const MeasuredGroup& group : measured.groups) all += group.total_ns;
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const MeasuredGroup& group = measured.groups[i];
        table.add(kLimitsColumns, {trace, group, measured.launches[group.longest], profiles[i], diagnoses[i], all});
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
