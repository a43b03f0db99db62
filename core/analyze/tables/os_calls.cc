// `os_calls`: in which functions of the operating system did the program spend its time? One row per function that the recorder
// watched, the longest first. Time is of the wall: most of it is waiting (poll, sem_wait, pthread_cond_wait).
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/analyze/facts/stat.h"
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

struct Calls {
    std::vector<std::int64_t> durations;
    std::set<StringId> threads;
};

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    const OsCallTable& calls = trace.tables().os_call;
    ResultTable table("os_calls", kColumns);
    table.handle_prefix = "os";
    std::map<StringId, Calls> by_name;
    for (Row row = 0; row < calls.rows; ++row) {
        Calls& of = by_name[calls.name.value_or(row, kNoString)];
        of.durations.push_back(calls.dur[row]);
        if (calls.thread.has(row)) of.threads.insert(calls.thread[row]);
    }
    struct Line {
        std::string_view name;
        Stat stat;
        std::size_t threads;
    };
    std::vector<Line> lines;
    WideSum whole;
    for (auto& [name, of] : by_name) {
        lines.push_back(
            {name == kNoString ? std::string_view() : trace.text(name), stat_of(of.durations), of.threads.size()});
        whole.add(lines.back().stat.sum);
    }
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : a.name < b.name;
    });
    for (const Line& line : lines)
        table.add_row({text_cell(line.name), integer(line.stat.count), integer(line.stat.sum.value()),
                       percent(line.stat.sum.real(), whole.real()), real(line.stat.mean), integer(line.stat.p50),
                       integer(line.stat.p95), integer(line.stat.max),
                       line.threads == 0 ? kAbsent : integer(line.threads)});
    if (lines.empty())
        table.notes.push_back("no calls of the operating system were recorded; nsys profile --trace=osrt records them");
    return table;
}

}  // namespace

const Analysis kOsCalls{"os_calls", "osrt_sum", "Per function of the operating system: calls and time.", kColumns, run};

}  // namespace gpuprof
