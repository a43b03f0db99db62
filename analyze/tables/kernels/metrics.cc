// `metrics`: every known counter of each measured launch, in its base unit, whatever tool and version measured it.
#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kMetricsColumns[] = {
    {"launch", CellType::integer, Unit::none, "Number of the launch."},
    {"kernel", CellType::text, Unit::none, "Handle of the kernel."},
    {"section", CellType::text, Unit::none, "What the metric is about."},
    {"metric", CellType::text, Unit::none, "Name of the metric; Nsight Compute's label, where it has one."},
    {"value", CellType::real, Unit::none, "The value."},
    {"unit", CellType::text, Unit::none, "Unit of the value."},
    {"vendor_name", CellType::text, Unit::none, "The counter's name in CUPTI and Nsight Compute."},
};

Result<ResultTable> metrics_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("metrics", kMetricsColumns);
    for (const MeasuredGroup& group : measured.groups)
        for (std::size_t launch : group.launches) {
            const MeasuredKernel& kernel = measured.launches[launch];
            Cell number = integer(trace.tables().profiled_kernel.launch.get(kernel.row));
            for (const KernelMetricSpec& spec : kernel_metrics())
                if (std::optional<double> value = kernel[spec.metric])
                    table.add_row({number, std::string_view(group.handle), name_of(spec.section), spec.label,
                                   real(*value), text_cell(spec.unit), spec.names[0]});
        }
    if (measured.launches.empty()) table.notes.push_back("No counters of kernels were recorded.");
    return table;
}

}  // namespace

const Analysis kMetricRows{"metrics", "", "Per profiled launch: every known counter, in base units.", kMetricsColumns,
                           metrics_table};

}  // namespace gpuprof::tables
