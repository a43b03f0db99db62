// `api`: what did the host spend in CUDA or HIP calls? One row per function name, over all threads.
// `blocking` says by the name whether the call itself waits for the device (call_kind.h). Calls belong to no device, so
// the device option does not apply here.
#include <algorithm>
#include <unordered_set>

#include "core/analyze/analysis_list.h"
#include "core/analyze/call_kind.h"
#include "core/analyze/cells.h"
#include "core/analyze/row_groups.h"
#include "core/analyze/stat.h"

namespace gpuprof {
namespace {

struct CallTimes {
    StringId name = kNoString;
    std::span<const Row> rows;
    Stat stat;
    std::size_t threads = 0;
};

// Threads that are named; absent ones count as none.
std::size_t count_threads(const Column<StringId>& threads, std::span<const Row> rows) {
    std::unordered_set<std::uint32_t> seen;
    StringId last = kNoString;
    for (Row row : rows) {
        StringId thread = threads.value_or(row, kNoString);
        if (thread != last && thread != kNoString) seen.insert(index_of(thread));
        last = thread;
    }
    return seen.size();
}

void measure(const ApiCallTable& calls, CallTimes& group) {
    PodVector<std::int64_t> durations(group.rows.size());
    for (std::size_t i = 0; i < group.rows.size(); ++i) durations[i] = calls.dur[group.rows[i]];
    group.stat = stat_of({durations.data(), durations.size()});
    group.threads = count_threads(calls.thread, group.rows);
}

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Function name."},
    {"count", CellType::integer, Unit::count, "Calls."},
    {"total_ns", CellType::integer, Unit::ns, "Sum of the durations."},
    {"mean_ns", CellType::real, Unit::ns, "Mean duration."},
    {"p50_ns", CellType::integer, Unit::ns, "Median (nearest rank)."},
    {"p95_ns", CellType::integer, Unit::ns, "95th percentile (nearest rank)."},
    {"max_ns", CellType::integer, Unit::ns, "Longest."},
    {"blocking", CellType::boolean, Unit::none, "Whether the call waits for the device."},
    {"threads", CellType::integer, Unit::count, "Threads that made the call."},
};

Result<ResultTable> run(const Study& study) {
    const Trace& trace = study.trace();
    const ApiCallTable& calls = trace.api_call();
    RowsByName by_name(calls.name, trace.strings().size(), [](Row) { return true; });
    std::vector<CallTimes> groups;
    for (std::uint32_t key : by_name.used()) groups.push_back({by_name.name(key), by_name[key], {}, 0});
    for_each_group(groups.size(), calls.rows, [&](std::size_t i) { measure(calls, groups[i]); });
    std::sort(groups.begin(), groups.end(), [&](const CallTimes& a, const CallTimes& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : trace.text(a.name) < trace.text(b.name);
    });

    ResultTable table("api", kColumns);
    table.handle_prefix = "a";
    for (const CallTimes& group : groups) {
        table.add_row({
            text_cell(trace, group.name),
            integer(group.stat.count),
            integer(group.stat.sum.value()),
            real(group.stat.mean),
            integer(group.stat.p50),
            integer(group.stat.p95),
            integer(group.stat.max),
            group.name == kNoString ? kAbsent : Cell{call_blocks(trace.text(group.name))},
            group.threads == 0 ? kAbsent : integer(group.threads),
        });
    }
    return table;
}

}  // namespace

const Analysis kApi{"api", "cuda_api_sum", "Per CUDA or HIP function: calls, time, and whether it waits.", kColumns,
                    run};

}  // namespace gpuprof
