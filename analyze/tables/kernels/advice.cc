// `advice`: what to change in each measured kernel, by our rules. Other tools' advice is in `tool_advice`.
#include <string>

#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kAdviceColumns[] = {
    {"kernel", CellType::text, Unit::none, "Handle of the kernel."},
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"rule", CellType::text, Unit::none, "Name of the rule."},
    {"kind", CellType::text, Unit::none, "limit: what the kernel is limited by; cause: why it comes to that."},
    {"gain_pct", CellType::real, Unit::percent, "What acting on it saves of the kernel's duration, at most."},
    {"title", CellType::text, Unit::none, "The finding in a sentence."},
    {"evidence", CellType::text, Unit::none, "Counters that prove it, separated by semicolons."},
    {"remedy", CellType::text, Unit::none, "What to do."},
    {"confidence", CellType::text, Unit::none, "high, medium or low."},
    {"would_change_if", CellType::text, Unit::none, "What would refute the finding."},
    {"launch", CellType::integer, Unit::none, "Number of the launch that was judged."},
};

Result<ResultTable> advice_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("advice", kAdviceColumns);
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const MeasuredGroup& group = measured.groups[i];
        const KernelDiagnosis& diagnosis = facts.get<KernelDiagnoses>().diagnoses[i];
        for (const KernelFinding& finding : diagnosis.findings)
            table.add_row({std::string_view(group.handle), text_cell(trace, group.name), finding.rule,
                           std::string_view(finding.kind == KernelFindingKind::limit ? "limit" : "cause"),
                           real(finding.gain_pct), std::string_view(finding.title),
                           std::string_view(joined(finding.evidence)), std::string_view(finding.remedy),
                           name_of(finding.confidence), std::string_view(finding.would_change_if),
                           integer(trace.tables().profiled_kernel.launch.get(measured.launches[group.longest].row))});
    }
    if (measured.groups.empty()) table.notes.push_back("No counters of kernels were recorded.");
    return table;
}

}  // namespace

const Analysis kAdvice{"advice", "", "Per kernel with counters: findings with evidence, gain and remedy.",
                       kAdviceColumns, advice_table};

}  // namespace gpuprof::tables
