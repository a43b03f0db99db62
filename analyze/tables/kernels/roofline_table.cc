// `roofline`: arithmetic per byte of each measured kernel, by number format and memory level, and the roof above it.
#include "analyze/kernels/roofline.h"

#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kRooflineColumns[] = {
    {"kernel", CellType::text, Unit::none, "Handle of the kernel."},
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"precision", CellType::text, Unit::none, "Number format and pipe."},
    {"level", CellType::text, Unit::none, "DRAM, L2 or L1: where the bytes were counted."},
    {"flop_per_byte", CellType::real, Unit::flop_per_byte, "Arithmetic intensity."},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "Achieved rate."},
    {"roof_flop_per_s", CellType::real, Unit::flop_per_s,
     "What the GPU allows at this intensity, at the measured clocks."},
    {"of_roof_pct", CellType::real, Unit::percent, "Achieved rate as a share of the roof."},
    {"peak_flop_per_s", CellType::real, Unit::flop_per_s, "Peak of the pipe at the measured clock."},
    {"bytes_per_s", CellType::real, Unit::none, "Traffic of the level, in bytes per second."},
    {"peak_bytes_per_s", CellType::real, Unit::none, "Peak of the level at the measured clock, in bytes per second."},
    {"launch", CellType::integer, Unit::none, "Number of the launch: the longest of the kernel."},
};

Result<ResultTable> roofline_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("roofline", kRooflineColumns);
    for (const MeasuredGroup& group : measured.groups) {
        const MeasuredKernel& kernel = measured.launches[group.longest];
        for (const RooflinePoint& point : roofline(kernel)) {
            std::optional<double> roof = point.roof_flop_per_s();
            table.add_row({std::string_view(group.handle), text_cell(trace, group.name), point.precision,
                           name_of(point.level), real(point.flop_per_byte()), real(point.flop_per_s), real(roof),
                           roof ? percent(point.flop_per_s, *roof) : kAbsent, real(point.peak_flop_per_s),
                           real(point.bytes_per_s), real(point.peak_bytes_per_s),
                           integer(trace.tables().profiled_kernel.launch.get(kernel.row))});
        }
    }
    if (table.rows() == 0)
        table.notes.push_back(
            "No kernel has counters of arithmetic and traffic; a roofline needs both (gpu-profile counters "
            "--set roofline, or ncu --set full).");
    return table;
}

}  // namespace

const Analysis kRoofline{"roofline", "", "Per kernel with counters: arithmetic intensity, achieved rate and roof.",
                         kRooflineColumns, roofline_table};

}  // namespace gpuprof::tables
