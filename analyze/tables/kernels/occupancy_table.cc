// `occupancy`: how many warps of a kernel fit on a multiprocessor, what limits them, and what would raise the number. One
// row per kernel name and launch shape. With --threads, --registers, --shared-bytes or --cluster, each launch is also
// computed with that changed.
#include <fmt/format.h>

#include "analyze/facts/kernels/launch_shapes.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct OccupancyRow {
    const Trace& trace;
    const ShapedLaunches& group;
    std::optional<Occupancy> now, changed;
    std::string raised_by;
};

constexpr auto kOccupancyColumns = columns_of<OccupancyRow>({
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"block", CellType::text, Unit::none, "Block size in threads, x,y,z.",
     [](auto& r) {
         const LaunchShape& shape = r.group.shape;
         return fmt::format("{},{},{}", shape.block_x, shape.block_y, shape.block_z);
     }},
    {"registers", CellType::integer, Unit::count, "Registers per thread.",
     [](auto& r) { return r.group.shape.registers_per_thread; }},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory per block.",
     [](auto& r) { return r.group.shape.shared_bytes; }},
    {"occupancy_pct", CellType::real, Unit::percent,
     "Theoretical occupancy: warps that fit on a multiprocessor, as a share of its warp slots.",
     [](auto& r) { return r.now ? real(r.now->pct) : kAbsent; }},
    {"limiter", CellType::text, Unit::none,
     "Limiter of the occupancy: registers, shared memory, barriers, blocks or warps; or why the launch is impossible.",
     [](auto& r) { return text_cell(r.now ? to_string(r.now->limiter) : ""); }},
    {"changed_pct", CellType::real, Unit::percent,
     "The occupancy with the given --threads, --registers, --shared-bytes and --cluster.",
     [](auto& r) { return r.changed ? real(r.changed->pct) : kAbsent; }},
    {"changed_limiter", CellType::text, Unit::none, "Its limiter.",
     [](auto& r) { return text_cell(r.changed ? to_string(r.changed->limiter) : ""); }},
    {"raised_by", CellType::text, Unit::none, "Changes of one resource that raise the occupancy, each with the result.",
     [](auto& r) { return text_cell(r.raised_by); }},
    {"blocks_per_sm", CellType::integer, Unit::count, "Blocks that fit on a multiprocessor.",
     [](auto& r) { return r.now ? integer(r.now->blocks_per_sm) : kAbsent; }},
    {"barriers", CellType::integer, Unit::count, "Barriers per block, if a kernel profiler recorded them.",
     [](auto& r) { return r.group.shape.barriers; }},
    {"cluster_blocks", CellType::integer, Unit::count, "Blocks per cluster; absent without clusters.",
     [](auto& r) {
         return r.group.shape.cluster_blocks.value_or(0) > 1 ? integer(r.group.shape.cluster_blocks) : kAbsent;
     }},
    {"max_clusters", CellType::integer, Unit::count,
     "Upper bound of the clusters that run at a time on the device: the number of multiprocessors per GPC is unknown.",
     [](auto& r) { return r.now ? integer(r.now->max_clusters) : kAbsent; }},
    {"launches", CellType::integer, Unit::count, "Number of launches.", [](auto& r) { return r.group.launches; }},
    {"total_ns", CellType::integer, Unit::ns, "Sum of their durations.",
     [](auto& r) { return r.group.total_ns.value(); }},
    {"source", CellType::text, Unit::none,
     "timeline, or profiler: measured by a kernel profiler, which slows kernels down.",
     [](auto& r) { return r.group.profiled ? "profiler" : "timeline"; }},
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.group.device < 0 ? kAbsent : integer(r.group.device); }},
});

Result<ResultTable> occupancy_table(const Facts& facts) {
    ResultTable table("occupancy", kOccupancyColumns);
    table.handle_prefix = "occupancy";
    bool unknown = false;
    for (const ShapedLaunches& group : facts.get<LaunchShapes>().groups) {
        OccupancyRow row{facts.trace(), group, theoretical_occupancy(group.shape, group.limits),
                         changed_occupancy(group, facts.options()),
                         to_string(occupancy_changes(group.shape, group.limits))};
        table.add(kOccupancyColumns, row);
        unknown = unknown || !row.now;
    }
    if (table.rows() == 0)
        table.notes.push_back("No launch shapes were recorded; gpu-profile record and ncu --page raw record them.");
    else if (unknown)
        table.notes.push_back(
            "Some occupancies are unknown: registers, shared memory or the compute capability of the device are "
            "missing.");
    return table;
}

}  // namespace

const Analysis kOccupancy{"occupancy",
                          "",
                          "Per kernel and launch shape: theoretical occupancy, its limiter, what would raise it.",
                          kOccupancyColumns,
                          occupancy_table,
                          {.reads = {AnalysisOption::threads, AnalysisOption::registers, AnalysisOption::shared_bytes,
                                     AnalysisOption::cluster}}};

}  // namespace gpuprof::tables
