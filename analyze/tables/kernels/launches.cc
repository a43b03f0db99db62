// `launches`: what does it cost to launch each kernel, and how long does it wait in the queue? One row per kernel name,
// over the kernels whose submitting call is in the trace.
// queue = end of the call to start of the kernel. It is negative when the kernel starts before the call returns, and
// enters the mean as such. A call that submits many kernels (a graph launch) counts once per kernel name in
// api_mean_ns.
#include <algorithm>

#include <fmt/format.h>

#include "analyze/facts/name_groups.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct LaunchTotals {
    StringId name = kNoString;
    std::uint64_t count = 0, calls = 0;
    WideSum call, queue, kernel;
    std::int64_t queue_p95 = 0;
};

// Adds each call once to each kernel name it submitted. Most calls submit one kernel; for the others, the pairs of call
// and name are sorted.
void add_calls(const Trace& trace, const NameGroups& names, std::vector<LaunchTotals>& groups) {
    const PodVector<Row>& launch = trace.links().kernel_launch;
    auto add = [&](std::uint32_t group, Row call) {
        ++groups[group].calls;
        groups[group].call.add(trace.api_call().dur[call]);
    };
    PodVector<std::uint8_t> kernels(trace.api_call().rows, 0);  // kernels per call: 0, 1, or 2 for more
    for (Row row = 0; row < names.rows(); ++row)
        if (names.of(row) != NameGroups::kLeftOut && kernels[launch[row]] < 2) ++kernels[launch[row]];
    std::vector<std::pair<std::uint32_t, Row>> several;  // group, call
    for (Row row = 0; row < names.rows(); ++row) {
        if (names.of(row) == NameGroups::kLeftOut) continue;
        if (kernels[launch[row]] == 1) {
            add(names.of(row), launch[row]);
        } else {
            several.emplace_back(names.of(row), launch[row]);
        }
    }
    std::sort(several.begin(), several.end());
    several.erase(std::unique(several.begin(), several.end()), several.end());
    for (auto [group, call] : several) add(group, call);
}

std::vector<LaunchTotals> measure(const Trace& trace, const NameGroups& names) {
    const ApiCallTable& calls = trace.api_call();
    const PodVector<Row>& launch = trace.links().kernel_launch;
    std::vector<LaunchTotals> groups(names.size());
    PodVector<std::int64_t> queues = names.gather([&](Row row) {
        LaunchTotals& group = groups[names.of(row)];
        group.kernel.add(trace.kernel().dur[row]);
        DurNs queue = trace.kernel().start[row] - (calls.start[launch[row]] + calls.dur[launch[row]]);
        group.queue.add(queue);
        return queue;
    });
    add_calls(trace, names, groups);
    for_each_group(groups.size(), queues.size(), [&](std::size_t i) {
        groups[i].name = names.name(i);
        groups[i].count = names.count(i);
        groups[i].queue_p95 = nearest_rank(names.slice(queues, i), 95);
    });
    std::sort(groups.begin(), groups.end(), [&](const LaunchTotals& a, const LaunchTotals& b) {
        return a.kernel != b.kernel ? a.kernel > b.kernel : trace.text(a.name) < trace.text(b.name);
    });
    return groups;
}

struct LaunchesRow {
    const Trace& trace;
    const LaunchTotals& group;
};

constexpr auto kLaunchesColumns = columns_of<LaunchesRow>({
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return text_cell(r.trace, r.group.name); }},
    {"count", CellType::integer, Unit::count, "Number of kernels whose submitting call is known.",
     [](auto& r) { return r.group.count; }},
    {"api_mean_ns", CellType::real, Unit::ns, "Mean duration of the submitting calls, each counted once.",
     [](auto& r) { return r.group.call.over(r.group.calls); }},
    {"queue_mean_ns", CellType::real, Unit::ns,
     "Mean time from the end of the call to the start of the kernel; can be negative.",
     [](auto& r) { return r.group.queue.over(r.group.count); }},
    {"queue_p95_ns", CellType::integer, Unit::ns, "95th percentile of that time (nearest rank).",
     [](auto& r) { return r.group.queue_p95; }},
    {"kernel_mean_ns", CellType::real, Unit::ns, "Mean kernel duration.",
     [](auto& r) { return r.group.kernel.over(r.group.count); }},
});

Result<ResultTable> launches_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const KernelTable& kernels = trace.kernel();
    std::int64_t only = facts.options().device;
    std::uint64_t unknown = 0;
    for (Row row = 0; row < kernels.rows; ++row) {
        bool wanted = only < 0 || kernels.device.value_or(row, -1) == only;
        if (wanted && trace.links().kernel_launch[row] == kNoRow) ++unknown;
    }
    NameGroups names(kernels.name, trace.strings().size(), [&](Row row) {
        return trace.links().kernel_launch[row] != kNoRow && (only < 0 || kernels.device.value_or(row, -1) == only);
    });
    std::vector<LaunchTotals> groups = measure(trace, names);

    ResultTable table("launches", kLaunchesColumns);
    table.handle_prefix = "l";
    for (const LaunchTotals& group : groups) table.add(kLaunchesColumns, {trace, group});
    if (unknown > 0)
        table.notes.push_back(
            fmt::format("{} of {} kernels are omitted: the calls that submitted them were not recorded.",
                        readable_count(static_cast<std::int64_t>(unknown)),
                        readable_count(static_cast<std::int64_t>(kernels.rows))));
    return table;
}

}  // namespace

const Analysis kLaunches{"launches", "cuda_kern_exec_sum", "Per kernel name: launch call time and time in the queue.",
                         kLaunchesColumns, launches_table};

}  // namespace gpuprof::tables
