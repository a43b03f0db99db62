// `stalls`: what the warps of each measured kernel wait for.
#include "core/analyze/facts/warp_stalls.h"

#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"kernel", CellType::text, Unit::none, "Handle of the kernel."},
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"reason", CellType::text, Unit::none, "Stall reason, as CUPTI names it."},
    {"share_pct", CellType::real, Unit::percent, "Share of the time between two instructions of a warp."},
    {"cycles", CellType::real, Unit::none, "Cycles per issued instruction; absent if it was sampled."},
    {"waits_for", CellType::text, Unit::none, "What warps wait for."},
    {"basis", CellType::text, Unit::none, "counters or samples, and why they are uncertain, if they are."},
    {"launch", CellType::integer, Unit::none, "Number of the launch: the longest of the kernel."},
};

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("stalls", kColumns);
    for (const MeasuredGroup& group : measured.groups) {
        const MeasuredKernel& kernel = measured.launches[group.longest];
        std::optional<WarpStalls> stalls = warp_stalls(kernel);
        if (!stalls) continue;
        std::string basis = stalls->sampled ? "samples" : "counters";
        if (!stalls->doubt.empty()) basis += "; uncertain: " + stalls->doubt;
        for (const StallShare& share : stalls->shares)
            table.add_row({std::string_view(group.handle), text_cell(trace, group.name), share.reason->name,
                           real(share.pct), real(share.cycles), share.reason->waits_for, std::string_view(basis),
                           integer(trace.tables().profiled_kernel.launch.get(kernel.row))});
    }
    if (table.rows() == 0) table.notes.push_back("No stall reasons were recorded.");
    return table;
}

}  // namespace

const Analysis kStalls{"stalls", "", "Per kernel with counters: what its warps wait for.", kColumns, run};

}  // namespace gpuprof
