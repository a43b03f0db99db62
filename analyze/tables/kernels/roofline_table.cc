// `roofline`: arithmetic per byte of each measured kernel, by number format and memory level, and the roof above it.
#include "analyze/kernels/roofline.h"

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct RooflineRow {
    const Trace& trace;
    const MeasuredGroup& group;
    const MeasuredKernel& kernel;
    const RooflinePoint& point;
    std::optional<double> roof;
};

constexpr auto kRooflineColumns = columns_of<RooflineRow>({
    {"kernel", CellType::text, Unit::none, "Handle of the kernel.",
     [](auto& r) { return std::string_view(r.group.handle); }},
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"precision", CellType::text, Unit::none, "Number format and pipe.", [](auto& r) { return r.point.precision; }},
    {"level", CellType::text, Unit::none, "DRAM, L2 or L1: where the bytes were counted.",
     [](auto& r) { return name_of(r.point.level); }},
    {"flop_per_byte", CellType::real, Unit::flop_per_byte, "Arithmetic intensity.",
     [](auto& r) { return r.point.flop_per_byte(); }},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "Achieved rate.", [](auto& r) { return r.point.flop_per_s; }},
    {"roof_flop_per_s", CellType::real, Unit::flop_per_s,
     "What the GPU allows at this intensity, at the measured clocks.", [](auto& r) { return r.roof; }},
    {"of_roof_pct", CellType::real, Unit::percent, "Achieved rate as a share of the roof.",
     [](auto& r) { return r.roof ? percent(r.point.flop_per_s, *r.roof) : kAbsent; }},
    {"peak_flop_per_s", CellType::real, Unit::flop_per_s, "Peak of the pipe at the measured clock.",
     [](auto& r) { return r.point.peak_flop_per_s; }},
    {"bytes_per_s", CellType::real, Unit::none, "Traffic of the level, in bytes per second.",
     [](auto& r) { return r.point.bytes_per_s; }},
    {"peak_bytes_per_s", CellType::real, Unit::none, "Peak of the level at the measured clock, in bytes per second.",
     [](auto& r) { return r.point.peak_bytes_per_s; }},
    {"launch", CellType::integer, Unit::none, "Number of the launch: the longest of the kernel.",
     [](auto& r) { return r.trace.tables().profiled_kernel.launch.get(r.kernel.row); }},
});

Result<ResultTable> roofline_table(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("roofline", kRooflineColumns);
    table.wanted = {"level", "flop_per_byte", "flop_per_s", "of_roof_pct"};
    for (const MeasuredGroup& group : measured.groups) {
        if (!is_selected(facts, facts.trace().text(group.name))) continue;
        const MeasuredKernel& kernel = measured.launches[group.longest];
        for (const RooflinePoint& point : roofline(kernel))
            table.add(kRooflineColumns, {facts.trace(), group, kernel, point, point.roof_flop_per_s()});
    }
    if (table.rows() == 0)
        table.notes.push_back(
            "No kernel has counters of arithmetic and traffic; a roofline needs both (gpu-profile counters "
            "--set roofline, or ncu --set full).");
    return table;
}

}  // namespace

const Analysis kRoofline{"roofline",
                         "",
                         "Per kernel with counters: arithmetic intensity, achieved rate and roof.",
                         kRooflineColumns,
                         roofline_table,
                         {.reads = {AnalysisOption::kernel}}};

}  // namespace gpuprof::tables
