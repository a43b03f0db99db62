// `occupancy`: how many warps of a kernel fit on a multiprocessor, what limits them, and what would raise the number. One
// row per kernel name and launch shape. With --threads, --registers, --shared-bytes or --cluster, each launch is also
// computed with that changed.
#include <fmt/format.h>

#include "analyze/facts/kernels/launch_shapes.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kOccupancyColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"block", CellType::text, Unit::none, "Block size in threads, x,y,z."},
    {"registers", CellType::integer, Unit::count, "Registers per thread."},
    {"shared_bytes", CellType::integer, Unit::bytes, "Shared memory per block."},
    {"occupancy_pct", CellType::real, Unit::percent,
     "Theoretical occupancy: warps that fit on a multiprocessor, as a share of its warp slots."},
    {"limiter", CellType::text, Unit::none,
     "Limiter of the occupancy: registers, shared memory, barriers, blocks or warps; or why the launch is impossible."},
    {"changed_pct", CellType::real, Unit::percent,
     "The occupancy with the given --threads, --registers, --shared-bytes and --cluster."},
    {"changed_limiter", CellType::text, Unit::none, "Its limiter."},
    {"raised_by", CellType::text, Unit::none,
     "Changes of one resource that raise the occupancy, each with the result."},
    {"blocks_per_sm", CellType::integer, Unit::count, "Blocks that fit on a multiprocessor."},
    {"barriers", CellType::integer, Unit::count, "Barriers per block, if a kernel profiler recorded them."},
    {"cluster_blocks", CellType::integer, Unit::count, "Blocks per cluster; absent without clusters."},
    {"max_clusters", CellType::integer, Unit::count,
     "Upper bound of the clusters that run at a time on the device: the number of multiprocessors per GPC is unknown."},
    {"launches", CellType::integer, Unit::count, "Number of launches."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of their durations."},
    {"source", CellType::text, Unit::none,
     "timeline, or profiler: measured by a kernel profiler, which slows kernels down."},
    {"device", CellType::integer, Unit::none, "Device ordinal."},
};

void add(ResultTable& table, const Trace& trace, const ShapedLaunches& group, const Options& options) {
    const LaunchShape& shape = group.shape;
    std::optional<Occupancy> now = theoretical_occupancy(shape, group.limits), then = changed_occupancy(group, options);
    std::string block = fmt::format("{},{},{}", shape.block_x, shape.block_y, shape.block_z);
    std::string raised_by = to_string(occupancy_changes(shape, group.limits));
    bool clusters = shape.cluster_blocks.value_or(0) > 1;
    table.add_row(
        {text_cell(trace, group.name), text_cell(block), integer(shape.registers_per_thread),
         integer(shape.shared_bytes), now ? real(now->pct) : kAbsent, text_cell(now ? to_string(now->limiter) : ""),
         then ? real(then->pct) : kAbsent, text_cell(then ? to_string(then->limiter) : ""), text_cell(raised_by),
         now ? integer(now->blocks_per_sm) : kAbsent, integer(shape.barriers),
         clusters ? integer(shape.cluster_blocks) : kAbsent, now ? integer(now->max_clusters) : kAbsent,
         integer(group.launches), integer(group.total_ns.value()), text_cell(group.profiled ? "profiler" : "timeline"),
         group.device < 0 ? kAbsent : integer(group.device)});
}

Result<ResultTable> occupancy_table(const Facts& facts) {
    ResultTable table("occupancy", kOccupancyColumns);
    table.handle_prefix = "occupancy";
    bool unknown = false;
    for (const ShapedLaunches& group : facts.get<LaunchShapes>().groups) {
        add(table, facts.trace(), group, facts.options());
        unknown = unknown || !theoretical_occupancy(group.shape, group.limits);
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

const Analysis kOccupancy{"occupancy", "",
                          "Per kernel and launch shape: theoretical occupancy, its limiter, what would raise it.",
                          kOccupancyColumns, occupancy_table};

}  // namespace gpuprof::tables
