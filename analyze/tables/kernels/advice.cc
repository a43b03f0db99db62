// `advice`: what to change in each measured kernel, by our rules. Other tools' advice is in `tool_advice`.
#include <string>

#include "analyze/kernels/kernel_diagnosis.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct AdviceRow {
    const Trace& trace;
    const MeasuredGroup& group;
    const MeasuredKernel& longest;
    const KernelFinding& finding;
};

constexpr auto kAdviceColumns = columns_of<AdviceRow>({
    {"kernel", CellType::text, Unit::none, "Handle of the kernel.",
     [](auto& r) { return std::string_view(r.group.handle); }},
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"rule", CellType::text, Unit::none, "Name of the rule.", [](auto& r) { return r.finding.rule; }},
    {"kind", CellType::text, Unit::none, "limit: what the kernel is limited by; cause: why it comes to that.",
     [](auto& r) { return r.finding.kind == KernelFindingKind::limit ? "limit" : "cause"; }},
    {"gain_pct", CellType::real, Unit::percent, "What acting on it saves of the kernel's duration, at most.",
     [](auto& r) { return r.finding.gain_pct; }},
    {"title", CellType::text, Unit::none, "The finding in a sentence.",
     [](auto& r) { return std::string_view(r.finding.title); }},
    {"evidence", CellType::text, Unit::none, "Counters that prove it, separated by semicolons.",
     [](auto& r) { return joined(r.finding.evidence); }},
    {"remedy", CellType::text, Unit::none, "What to do.", [](auto& r) { return std::string_view(r.finding.remedy); }},
    {"confidence", CellType::text, Unit::none, "high, medium or low.",
     [](auto& r) { return name_of(r.finding.confidence); }},
    {"would_change_if", CellType::text, Unit::none, "What would refute the finding.",
     [](auto& r) { return std::string_view(r.finding.would_change_if); }},
    {"launch", CellType::integer, Unit::none, "Number of the launch that was judged.",
     [](auto& r) { return r.trace.tables().profiled_kernel.launch.get(r.longest.row); }},
});

Result<ResultTable> advice_table(const Facts& facts) {
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("advice", kAdviceColumns);
    for (std::size_t i = 0; i < measured.groups.size(); ++i) {
        const MeasuredGroup& group = measured.groups[i];
        const KernelDiagnosis& diagnosis = facts.get<KernelDiagnoses>().diagnoses[i];
        for (const KernelFinding& finding : diagnosis.findings)
            table.add(kAdviceColumns, {facts.trace(), group, measured.launches[group.longest], finding});
    }
    if (measured.groups.empty()) table.notes.push_back("No counters of kernels were recorded.");
    return table;
}

}  // namespace

const Analysis kAdvice{"advice", "", "Per kernel with counters: findings with evidence, gain and remedy.",
                       kAdviceColumns, advice_table};

}  // namespace gpuprof::tables
