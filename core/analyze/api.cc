// `api`: what did the host spend in CUDA or HIP calls? One row per function name, over all threads.
// `blocking` says by the name whether the call itself waits for the device (call_kind.h). Calls belong to no device, so
// the device option does not apply here.
#include <algorithm>
#include <unordered_set>

#include "core/analyze/analysis_list.h"
#include "core/analyze/call_kind.h"
#include "core/analyze/cells.h"
#include "core/analyze/name_groups.h"
#include "core/analyze/stat.h"

namespace gpuprof {
namespace {

struct CallTimes {
    StringId name = kNoString;
    Stat stat;
    std::unordered_set<std::uint32_t> threads;  // that are named
};

void find_threads(const ApiCallTable& calls, const NameGroups& names, std::vector<CallTimes>& groups) {
    std::vector<StringId> last(groups.size(), kNoString);
    for (Row row = 0; row < calls.rows; ++row) {
        StringId thread = calls.thread.value_or(row, kNoString);
        std::uint32_t group = names.of(row);
        if (thread != last[group] && thread != kNoString) groups[group].threads.insert(index_of(thread));
        last[group] = thread;
    }
}

std::vector<CallTimes> measure(const Trace& trace, const NameGroups& names) {
    std::vector<CallTimes> groups(names.size());
    find_threads(trace.api_call(), names, groups);
    PodVector<std::int64_t> durations = names.gather([&](Row row) { return trace.api_call().dur[row]; });
    for_each_group(groups.size(), durations.size(), [&](std::size_t i) {
        groups[i].name = names.name(i);
        groups[i].stat = stat_of(names.slice(durations, i));
    });
    std::sort(groups.begin(), groups.end(), [&](const CallTimes& a, const CallTimes& b) {
        return a.stat.sum != b.stat.sum ? a.stat.sum > b.stat.sum : trace.text(a.name) < trace.text(b.name);
    });
    return groups;
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
    NameGroups names(trace.api_call().name, trace.strings().size(), [](Row) { return true; });
    std::vector<CallTimes> groups = measure(trace, names);
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
            group.threads.empty() ? kAbsent : integer(group.threads.size()),
        });
    }
    return table;
}

}  // namespace

const Analysis kApi{"api", "cuda_api_sum", "Per CUDA or HIP function: calls, time, and whether it waits.", kColumns,
                    run};

}  // namespace gpuprof
