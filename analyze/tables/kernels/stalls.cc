// `stalls`: what the warps of each measured kernel wait for. Kernels that were only sampled, over all their launches,
// follow the measured ones.
#include "analyze/facts/kernels/warp_stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analyze/facts/kernels/source_lines.h"
#include "analyze/facts/name_groups.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct StallsRow {
    std::string_view handle;
    Cell name;
    const StallShare& share;
    std::string_view basis;
    Cell launch;
};

constexpr auto kStallsColumns = columns_of<StallsRow>({
    {"kernel", CellType::text, Unit::none, "Handle of the kernel.", [](auto& r) { return text_cell(r.handle); }},
    {"name", CellType::text, Unit::none, "Kernel name.", [](auto& r) { return r.name; }},
    {"reason", CellType::text, Unit::none, "Stall reason, as CUPTI names it.",
     [](auto& r) { return r.share.reason->name; }},
    {"share_pct", CellType::real, Unit::percent, "Share of the time between two instructions of a warp.",
     [](auto& r) { return r.share.pct; }},
    {"cycles", CellType::real, Unit::none, "Cycles per issued instruction; absent if it was sampled.",
     [](auto& r) { return r.share.cycles; }},
    {"waits_for", CellType::text, Unit::none, "What warps wait for.",
     [](auto& r) { return r.share.reason->waits_for; }},
    {"basis", CellType::text, Unit::none, "counters or samples, and why they are uncertain, if they are.",
     [](auto& r) { return r.basis; }},
    {"launch", CellType::integer, Unit::none,
     "Number of the launch: the longest of the kernel; absent if samples are of all its launches.",
     [](auto& r) { return r.launch; }},
});

void add(ResultTable& table, const Trace& trace, const WarpStalls& stalls, std::string_view handle, StringId name,
         Cell launch) {
    std::string basis = stalls.sampled ? "samples" : "counters";
    if (!stalls.doubt.empty()) basis += "; uncertain: " + stalls.doubt;
    for (const StallShare& share : stalls.shares)
        if (share.pct > 0 || launch != kAbsent)
            table.add(kStallsColumns, {handle, text_cell(trace, name), share, basis, launch});
}

// "k-3" of the timeline; "" if it does not have the kernel.
std::string handle_of(const KernelNames& timeline, StringId name) {
    auto found = std::find_if(timeline.order.begin(), timeline.order.end(),
                              [&](std::uint32_t each) { return timeline.groups.name(each) == name; });
    return found == timeline.order.end() ? "" : fmt::format("k-{}", found - timeline.order.begin() + 1);
}

// The functions that have samples and no counters, most samples first.
void add_sampled(ResultTable& table, const Facts& facts, const std::set<StringId>& measured) {
    const SourceLines& lines = facts.get<SourceLines>();
    std::vector<std::tuple<double, std::string_view, StringId>> functions;
    for (const auto& [function, samples] : lines.samples_by_function)
        if (samples > 0 && function != kNoString && measured.count(function) == 0)
            functions.emplace_back(-samples, facts.trace().text(function), function);
    std::sort(functions.begin(), functions.end());
    for (const auto& [samples, text, function] : functions)
        if (std::optional<WarpStalls> stalls = warp_stalls(MeasuredKernel(0, samples_as_counters(lines, function))))
            add(table, facts.trace(), *stalls, handle_of(facts.get<KernelNames>(), function), function, kAbsent);
}

Result<ResultTable> stalls_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MeasuredKernels& measured = facts.get<MeasuredKernels>();
    ResultTable table("stalls", kStallsColumns);
    std::set<StringId> names;  // with stalls
    for (const MeasuredGroup& group : measured.groups) {
        const MeasuredKernel& kernel = measured.launches[group.longest];
        std::optional<WarpStalls> stalls = warp_stalls(kernel);
        if (!stalls) continue;
        names.insert(group.name);
        add(table, trace, *stalls, group.handle, group.name,
            integer(trace.tables().profiled_kernel.launch.get(kernel.row)));
    }
    add_sampled(table, facts, names);
    if (table.rows() == 0) table.notes.push_back("No stall reasons were recorded.");
    return table;
}

}  // namespace

const Analysis kStalls{"stalls", "", "Per kernel with counters or samples: what its warps wait for.", kStallsColumns,
                       stalls_table};

}  // namespace gpuprof::tables
