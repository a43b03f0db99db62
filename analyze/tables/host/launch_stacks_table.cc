// `launch_stacks`: from where does the program launch its device work? One row per distinct stack, by the device time
// of its kernels. Kernels of a CUDA graph belong to the stack on which their node was captured, if that was recorded.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "analyze/facts/host/graph_origins.h"
#include "analyze/facts/idle/idle_calls.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"
#include "core/model/meta_values.h"
#include "core/schema/meta_keys.h"

namespace gpuprof::inline tables {
namespace {

struct Stack {
    StringId text = kNoString;
    std::uint64_t launches = 0, kernels = 0;
    WideSum calls, device;
    std::unordered_map<StringId, WideSum> by_kernel;
};

struct StackSums {
    std::vector<Stack> stacks;
    WideSum device;
    std::uint64_t kernels = 0, without = 0;  // kernels in all, and those whose launch has no stack
};

StackSums add_up(const Facts& facts) {
    const Trace& trace = facts.trace();
    const ApiCallTable& calls = trace.api_call();
    const KernelTable& kernels = trace.kernel();
    std::int64_t only = facts.options().device;
    StackSums sums;
    std::unordered_map<StringId, std::size_t> known;
    const GraphOrigins& origins = facts.get<GraphOrigins>();
    const GraphNodeTable& nodes = trace.tables().graph_node;
    auto stack_of = [&](StringId text) -> Stack& {
        auto [at, added] = known.try_emplace(text, sums.stacks.size());
        if (added) sums.stacks.emplace_back().text = text;
        return sums.stacks[at->second];
    };
    PodVector<std::uint8_t> launched(calls.rows, 0);  // on the wanted device
    for (Row row = 0; row < kernels.rows; ++row) {
        if (only >= 0 && kernels.device.value_or(row, -1) != only) continue;
        ++sums.kernels;
        sums.device.add(kernels.dur[row]);
        Row call = trace.links().kernel_launch[row], origin = origins.of_kernel(trace, row);
        StringId text = origin != kNoRow ? nodes.stack.value_or(origin, kNoString) : kNoString;
        if (text == kNoString && call != kNoRow) text = calls.stack.value_or(call, kNoString);
        if (text == kNoString) {
            ++sums.without;
            continue;
        }
        if (call != kNoRow) launched[call] = 1;
        Stack& stack = stack_of(text);
        ++stack.kernels;
        stack.device.add(kernels.dur[row]);
        stack.by_kernel[kernels.name.value_or(row, kNoString)].add(kernels.dur[row]);
    }
    for (Row row = 0; row < calls.rows; ++row) {
        if (!calls.stack.has(row) || (only >= 0 && launched[row] == 0)) continue;
        Stack& stack = stack_of(calls.stack[row]);
        ++stack.launches;
        stack.calls.add(calls.dur[row]);
    }
    return sums;
}

StringId longest(const Trace& trace, const Stack& stack) {
    auto less = [&](const auto& a, const auto& b) {
        if (a.second != b.second) return b.second > a.second;
        return trace.text(a.first) > trace.text(b.first);
    };
    auto most = std::max_element(stack.by_kernel.begin(), stack.by_kernel.end(), less);
    return most == stack.by_kernel.end() ? kNoString : most->first;
}

struct LaunchStacksRow {
    const Trace& trace;
    const Stack& stack;
    const WideSum& device;
};

constexpr auto kLaunchStacksColumns = columns_of<LaunchStacksRow>({
    {"place", CellType::text, Unit::none,
     "Innermost Python function and its line; without Python, the innermost native function.",
     [](auto& r) { return text_cell(launch_place(r.trace.text(r.stack.text))); }},
    {"launches", CellType::integer, Unit::count, "Calls with this stack.", [](auto& r) { return r.stack.launches; }},
    {"call_ns", CellType::integer, Unit::ns, "Sum of the durations of these calls.",
     [](auto& r) { return r.stack.calls.value(); }},
    {"kernels", CellType::integer, Unit::count, "Kernels that they submitted.",
     [](auto& r) { return r.stack.kernels; }},
    {"device_ns", CellType::integer, Unit::ns, "Sum of the durations of these kernels.",
     [](auto& r) { return r.stack.device.value(); }},
    {"device_pct", CellType::real, Unit::percent, "device_ns as a share of the sum over all kernels.",
     [](auto& r) { return percent(r.stack.device.real(), r.device.real()); }},
    {"kernel", CellType::text, Unit::none, "The kernel with most of device_ns.",
     [](auto& r) { return text_cell(r.trace, longest(r.trace, r.stack)); }},
    {"stack", CellType::text, Unit::none, "Frames, outermost first, joined by `;`.",
     [](auto& r) { return text_cell(r.trace, r.stack.text); }},
});

void add_notes(const Trace& trace, const StackSums& sums, ResultTable& table) {
    for (std::string_view why : meta_values(trace, meta_key::kLaunchStacks))
        if (why != meta_key::kStreamCallsRecorded)
            table.notes.push_back(fmt::format("Stacks were not recorded in a process: {}.", why));
    for (std::string_view why : meta_values(trace, meta_key::kNoPythonFrames))
        table.notes.push_back(fmt::format("Python frames are missing in a process: {}.", why));
    if (sums.stacks.empty())
        table.notes.push_back(
            "No stacks of launches were recorded; gpu-profile record --launch-stacks -- CMD records them.");
    else if (sums.without > 0)
        table.notes.push_back(fmt::format("{} of {} kernels are omitted: the calls that submitted them have no stack.",
                                          readable_count(static_cast<std::int64_t>(sums.without)),
                                          readable_count(static_cast<std::int64_t>(sums.kernels))));
}

Result<ResultTable> launch_stacks_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("launch_stacks", kLaunchStacksColumns);
    table.handle_prefix = "stack";
    StackSums sums = add_up(facts);
    std::sort(sums.stacks.begin(), sums.stacks.end(), [&](const Stack& a, const Stack& b) {
        if (a.device != b.device) return a.device > b.device;
        return a.launches != b.launches ? a.launches > b.launches : trace.text(a.text) < trace.text(b.text);
    });
    for (const Stack& stack : sums.stacks) table.add(kLaunchStacksColumns, {trace, stack, sums.device});
    add_notes(trace, sums, table);
    return table;
}

}  // namespace

const Analysis kLaunchStacks{"launch_stacks", "", "Per stack: launches, and the device time of what they submitted.",
                             kLaunchStacksColumns, launch_stacks_table};

}  // namespace gpuprof::tables
