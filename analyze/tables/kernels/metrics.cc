// `metrics`: every known counter of each measured launch, in its base unit, whatever tool and version measured it.
#include "analyze/facts/kernels/measured_kernels.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct MetricsRow {
    std::optional<std::int64_t> launch;
    const MeasuredGroup& group;
    const KernelMetricSpec& spec;
    double value;
};

constexpr auto kMetricsColumns = columns_of<MetricsRow>({
    {"launch", CellType::integer, Unit::none, "Number of the launch.", [](auto& r) { return r.launch; }},
    {"kernel", CellType::text, Unit::none, "Handle of the kernel.",
     [](auto& r) { return std::string_view(r.group.handle); }},
    {"section", CellType::text, Unit::none, "What the metric is about.",
     [](auto& r) { return name_of(r.spec.section); }},
    {"metric", CellType::text, Unit::none, "Name of the metric; Nsight Compute's label, where it has one.",
     [](auto& r) { return r.spec.label; }},
    {"value", CellType::real, Unit::none, "The value.", [](auto& r) { return r.value; }},
    {"unit", CellType::text, Unit::none, "Unit of the value.", [](auto& r) { return text_cell(r.spec.unit); }},
    {"vendor_name", CellType::text, Unit::none, "The counter's name in CUPTI and Nsight Compute.",
     [](auto& r) { return r.spec.names[0]; }},
});

Result<ResultTable> metrics_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("metrics", kMetricsColumns);
    for (const MeasuredGroup& group : measured.groups)
        for (std::size_t launch : group.launches) {
            const MeasuredKernel& kernel = measured.launches[launch];
            std::optional<std::int64_t> number = trace.tables().profiled_kernel.launch.get(kernel.row);
            for (const KernelMetricSpec& spec : kernel_metrics())
                if (std::optional<double> value = kernel[spec.metric])
                    table.add(kMetricsColumns, {number, group, spec, *value});
        }
    if (measured.launches.empty()) table.notes.push_back("No counters of kernels were recorded.");
    return table;
}

}  // namespace

const Analysis kMetricRows{"metrics", "", "Per profiled launch: every known counter, in base units.", kMetricsColumns,
                           metrics_table};

}  // namespace gpuprof::tables
