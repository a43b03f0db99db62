// `occupancy_curves`: theoretical occupancy over block size, registers per thread and shared memory per block, everything
// else as in the longest launch of each measured kernel. A value between two points has the occupancy of the higher one,
// because resources are allocated in steps. The launch's own value is a point too.
#include <algorithm>
#include <unordered_map>

#include "analyze/facts/kernels/launch_shapes.h"
#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

using Resource = OccupancyChange::Resource;

struct ResourceCurve {
    Resource resource;
    std::string_view name;
    std::int64_t own = 0;
    OccupancyCurve points;
};

// With the launch's own value; empty if the occupancy is unknown.
ResourceCurve curve_of(Resource resource, std::string_view name, std::int64_t own, OccupancyCurve points,
                       const Occupancy& now) {
    auto at = std::find_if(points.begin(), points.end(), [&](const OccupancyPoint& each) { return each.value >= own; });
    if (at == points.end() || at->value != own) points.insert(at, {own, now});
    return {resource, name, own, std::move(points)};
}

std::vector<ResourceCurve> curves_of(const LaunchShape& shape, const DeviceLimits& device) {
    const std::optional<Occupancy> now = theoretical_occupancy(shape, device);
    if (!now) return {};
    std::int64_t threads = std::int64_t{shape.block_x} * shape.block_y * shape.block_z;
    return {curve_of(Resource::threads, "threads", threads, occupancy_by_threads(shape, device), *now),
            curve_of(Resource::registers, "registers", *shape.registers_per_thread,
                     occupancy_by_registers(shape, device), *now),
            curve_of(Resource::shared_bytes, "shared_bytes", *shape.shared_bytes, occupancy_by_shared(shape, device),
                     *now)};
}

std::string raised_by(const std::vector<OccupancyChange>& changes, Resource resource) {
    std::vector<OccupancyChange> mine;
    for (const OccupancyChange& change : changes)
        if (change.resource == resource) mine.push_back(change);
    return to_string(mine);
}

struct OneLaunch {
    std::string_view handle, name;
    std::int64_t number = 0;
};

struct OccupancyCurvesRow {
    const OneLaunch& launch;
    const ResourceCurve& curve;
    const OccupancyPoint& point;
    std::string_view raised;

    bool own() const { return point.value == curve.own; }
};

constexpr auto kOccupancyCurvesColumns = columns_of<OccupancyCurvesRow>({
    {"kernel", CellType::text, Unit::none, "Handle of the kernel.", [](auto& r) { return text_cell(r.launch.handle); }},
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.launch.name); }},
    {"resource", CellType::text, Unit::none,
     "What changes: threads (per block), registers (per thread) or shared_bytes (per block).",
     [](auto& r) { return r.curve.name; }},
    {"value", CellType::integer, Unit::none, "Its value: threads, registers or bytes.",
     [](auto& r) { return r.point.value; }},
    {"occupancy_pct", CellType::real, Unit::percent,
     "Theoretical occupancy up to this value, from the point before it; absent if no block fits.",
     [](auto& r) { return r.point.occupancy.blocks_per_sm > 0 ? real(r.point.occupancy.pct) : kAbsent; }},
    {"limiter", CellType::text, Unit::none, "Limiter of the occupancy, as in `occupancy`.",
     [](auto& r) { return text_cell(to_string(r.point.occupancy.limiter)); }},
    {"blocks_per_sm", CellType::integer, Unit::count, "Blocks that fit on a multiprocessor.",
     [](auto& r) { return r.point.occupancy.blocks_per_sm; }},
    {"own", CellType::boolean, Unit::none, "Whether it is the launch's own value.", [](auto& r) { return r.own(); }},
    {"raised_by", CellType::text, Unit::none,
     "At the own value: the change of this resource alone that raises the occupancy, with the result.",
     [](auto& r) { return r.own() ? text_cell(r.raised) : kAbsent; }},
    {"launch", CellType::integer, Unit::none, "Number of the launch: the longest of the kernel.",
     [](auto& r) { return r.launch.number; }},
});

void add(ResultTable& table, const OneLaunch& launch, const ShapedLaunches& group) {
    const std::vector<OccupancyChange> changes = occupancy_changes(group.shape, group.limits);
    for (const ResourceCurve& curve : curves_of(group.shape, group.limits)) {
        std::string raised = raised_by(changes, curve.resource);
        for (const OccupancyPoint& point : curve.points)
            table.add(kOccupancyCurvesColumns, {launch, curve, point, raised});
    }
}

Result<ResultTable> occupancy_curves_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("occupancy_curves", kOccupancyCurvesColumns);
    std::unordered_map<std::int64_t, const ShapedLaunches*> shapes;
    for (const ShapedLaunches& group : facts.get<LaunchShapes>().groups)
        for (std::int64_t launch : group.measured_launches) shapes.emplace(launch, &group);
    std::size_t unknown = 0;
    for (const MeasuredGroup& group : measured.groups) {
        if (!is_selected(facts, trace.text(group.name))) continue;
        const ProfiledKernelTable& profiled = trace.tables().profiled_kernel;
        Row row = measured.launches[group.longest].row;
        auto shape = profiled.launch.has(row) ? shapes.find(profiled.launch[row]) : shapes.end();
        std::size_t before = table.rows();
        if (shape != shapes.end()) add(table, {group.handle, trace.text(group.name), shape->first}, *shape->second);
        unknown += table.rows() == before ? 1 : 0;
    }
    if (measured.groups.empty()) table.notes.push_back("No counters of kernels were recorded.");
    if (unknown > 0)
        table.notes.push_back(
            "Some occupancies are unknown: block size, registers, shared memory or the compute capability of the "
            "device "
            "are missing.");
    return table;
}

}  // namespace

const Analysis kOccupancyCurves{
    "occupancy_curves",
    "",
    "Per kernel with counters: theoretical occupancy over block size, registers and shared memory.",
    kOccupancyCurvesColumns,
    occupancy_curves_table,
    {.reads = {AnalysisOption::kernel}}};

}  // namespace gpuprof::tables
