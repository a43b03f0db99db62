// `os_calls`: in which functions of the operating system did the program spend its time? One row per function that the recorder
// watched, the longest first. Time is of the wall: most of it is waiting (poll, sem_wait, pthread_cond_wait).
#include "core/analyze/facts/call_names.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Function name."},
    {"count", CellType::integer, Unit::count, "Calls."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"share_pct", CellType::real, Unit::percent, "total_ns of the sum over all functions."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank)."},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank)."},
    {"max_ns", CellType::integer, Unit::ns, "Longest."},
    {"threads", CellType::integer, Unit::count, "Threads that made the call."},
};

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("os_calls", kColumns);
    table.handle_prefix = "os";
    WideSum whole;
    std::vector<CallTimes> groups = calls_by_name(trace, trace.tables().os_call);
    for (const CallTimes& group : groups) whole.add(group.stat.sum);
    for (const CallTimes& group : groups)
        table.add_row({text_cell(trace, group.name), integer(group.stat.count), integer(group.stat.sum.value()),
                       percent(group.stat.sum.real(), whole.real()), real(group.stat.mean), integer(group.stat.p50),
                       integer(group.stat.p95), integer(group.stat.max),
                       group.threads == 0 ? kAbsent : integer(group.threads)});
    if (groups.empty())
        table.notes.push_back("no calls of the operating system were recorded; nsys profile --trace=osrt records them");
    return table;
}

}  // namespace

const Analysis kOsCalls{"os_calls", "osrt_sum", "Per function of the operating system: calls and time.", kColumns, run};

}  // namespace gpuprof
