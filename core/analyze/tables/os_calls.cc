// `os_calls`: which operating-system calls took the program's time? One row per function that the recorder watched,
// longest first. Times are wall time: most of it is waiting (poll, sem_wait, pthread_cond_wait).
#include "core/analyze/facts/call_names.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Function name."},
    {"count", CellType::integer, Unit::count, "Number of calls."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"share_pct", CellType::real, Unit::percent, "total_ns as a share of the sum over all functions."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank)."},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank)."},
    {"max_ns", CellType::integer, Unit::ns, "Longest duration."},
    {"threads", CellType::integer, Unit::count, "Number of threads that made the call."},
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
        table.notes.push_back("No operating-system calls were recorded; nsys profile --trace=osrt records them.");
    return table;
}

}  // namespace

const Analysis kOsCalls{"os_calls", "osrt_sum", "Per operating-system function: calls and time.", kColumns, run};

}  // namespace gpuprof
