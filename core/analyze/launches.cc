// `launches`: what does getting each kernel onto the device cost, and how long does it wait there? One row per kernel
// name, over the kernels whose submitting call is in the trace.
// queue = end of the call to start of the kernel; it is negative when the kernel began before the call returned, and counts
// as that. A call that submits many kernels (a graph launch) counts once per kernel name in api_mean_ns.
#include <algorithm>

#include <fmt/format.h>

#include "core/analyze/analysis_list.h"
#include "core/analyze/cells.h"
#include "core/analyze/row_groups.h"
#include "core/analyze/stat.h"

namespace gpuprof {
namespace {

struct Launched {
    StringId name = kNoString;
    std::uint64_t count = 0, calls = 0;
    WideSum call, queue, kernel;
    std::int64_t queue_p95 = 0;
};

// `last_name[call]` is the last group, counted from 1, that has counted the call.
Launched measure(const Trace& trace, std::span<const Row> rows, std::uint32_t group,
                 PodVector<std::uint32_t>& last_name) {
    const ApiCallTable& calls = trace.api_call();
    Launched result;
    PodVector<std::int64_t> queues(rows.size());
    for (Row row : rows) {
        Row call = trace.links().kernel_launch[row];
        DurNs queue = trace.kernel().start[row] - (calls.start[call] + calls.dur[call]);
        queues[result.count++] = queue;
        result.queue.add(queue);
        result.kernel.add(trace.kernel().dur[row]);
        if (last_name[call] == group) continue;
        last_name[call] = group;
        ++result.calls;
        result.call.add(calls.dur[call]);
    }
    result.queue_p95 = nearest_rank({queues.data(), queues.size()}, 95);
    return result;
}

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Kernel name."},
    {"count", CellType::integer, Unit::count, "Kernels whose submitting call is known."},
    {"api_mean_ns", CellType::real, Unit::ns, "Mean duration of the submitting calls; each call counts once."},
    {"queue_mean_ns", CellType::real, Unit::ns,
     "Mean time from the end of the call to the start of the kernel; may be negative."},
    {"queue_p95_ns", CellType::integer, Unit::ns, "Its 95th percentile (nearest rank)."},
    {"kernel_mean_ns", CellType::real, Unit::ns, "Mean duration of the kernels."},
};

Result<ResultTable> run(const Study& study) {
    const Trace& trace = study.trace();
    const KernelTable& kernels = trace.kernel();
    std::int64_t only = study.options().device;
    std::uint64_t unknown = 0;
    for (Row row = 0; row < kernels.rows; ++row) {
        bool wanted = only < 0 || kernels.device.value_or(row, -1) == only;
        if (wanted && trace.links().kernel_launch[row] == kNoRow) ++unknown;
    }
    RowsByName by_name(kernels.name, trace.strings().size(), [&](Row row) {
        return trace.links().kernel_launch[row] != kNoRow && (only < 0 || kernels.device.value_or(row, -1) == only);
    });
    std::vector<Launched> groups;
    PodVector<std::uint32_t> last_name(trace.api_call().rows, 0);
    for (std::uint32_t key : by_name.used()) {
        groups.push_back(measure(trace, by_name[key], static_cast<std::uint32_t>(groups.size()) + 1, last_name));
        groups.back().name = by_name.name(key);
    }
    std::sort(groups.begin(), groups.end(), [&](const Launched& a, const Launched& b) {
        return a.kernel != b.kernel ? a.kernel > b.kernel : trace.text(a.name) < trace.text(b.name);
    });

    ResultTable table("launches", kColumns);
    table.handle_prefix = "l";
    for (const Launched& group : groups) {
        table.add_row({
            text_cell(trace, group.name),
            integer(group.count),
            real(group.call.over(group.calls)),
            real(group.queue.over(group.count)),
            integer(group.queue_p95),
            real(group.kernel.over(group.count)),
        });
    }
    if (unknown > 0)
        table.notes.push_back(fmt::format(
            "{} of {} kernels are left out: the call that submitted them is not in the trace.", unknown, kernels.rows));
    return table;
}

}  // namespace

const Analysis kLaunches{"launches", "cuda_kern_exec_sum", "Per kernel name: cost of the call, time in the queue.",
                         kColumns, run};

}  // namespace gpuprof
