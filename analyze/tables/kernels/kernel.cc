// `kernel`: the counters of one measured kernel that say what holds it back, section by section.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyze/kernels/roofline.h"
#include "analyze/kernels/selected_kernel.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/function_name.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

using enum KernelMetric;

struct KernelFigure {
    std::string_view section, name;
    double value;
    std::string_view unit, note;
};

constexpr auto kKernelColumns = columns_of<KernelFigure>({
    {"section", CellType::text, Unit::none,
     "speed of light, memory, occupancy, stalls, instructions, roofline or launch.", [](auto& r) { return r.section; }},
    {"name", CellType::text, Unit::none, "What was measured.", [](auto& r) { return r.name; }},
    {"value", CellType::real, Unit::none, "The value.", [](auto& r) { return r.value; }},
    {"unit", CellType::text, Unit::none, "Unit of the value.", [](auto& r) { return text_cell(r.unit); }},
    {"note", CellType::text, Unit::none, "What it consists of, or what it means.",
     [](auto& r) { return text_cell(r.note); }},
});

constexpr double kBusyPart = 5;  // percent: parts below it say nothing
constexpr std::size_t kMaxParts = 4;
constexpr double kShownStall = 1;  // percent

class Sections {
public:
    explicit Sections(ResultTable& table) : table_(table) {}
    void begin(std::string_view section) { section_ = section; }
    // What is counted and did not happen; not shown if it is 0.
    void add_if_any(std::string_view name, std::optional<double> value, std::string_view unit,
                    std::string_view note = "") {
        if (value.value_or(0) > 0) add(name, value, unit, note);
    }
    void add(std::string_view name, std::optional<double> value, std::string_view unit, std::string_view note = "") {
        if (value) table_.add(kKernelColumns, {section_, name, *value, unit, note});
    }

private:
    ResultTable& table_;
    std::string_view section_;
};

std::string note_of(const std::optional<Throughput>& throughput) {
    if (!throughput) return "";
    std::string note;
    if (throughput->level) note = fmt::format("{}: ", name_of(*throughput->level));
    note += throughput->part;
    if (note.ends_with(": ")) note.resize(note.size() - 2);
    if (throughput->lower_bound)
        note += fmt::format("{}at least: from {} of {} parts", note.empty() ? "" : "; ", throughput->measured,
                            throughput->of);
    return note;
}

void add_parts(Sections& to, const KernelProfile& profile, std::span<const ThroughputPart> parts) {
    std::vector<std::pair<double, const ThroughputPart*>> busy;
    for (const ThroughputPart& part : parts)
        if (std::optional<double> pct = profile[part.metric]; pct && *pct >= kBusyPart) busy.emplace_back(*pct, &part);
    std::stable_sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < std::min(busy.size(), kMaxParts); ++i)
        to.add(fmt::format("- {}{}", busy[i].second->level ? fmt::format("{}: ", name_of(*busy[i].second->level)) : "",
                           busy[i].second->name),
               busy[i].first, "%");
}

void speed_of_light(Sections& to, const KernelProfile& profile) {
    to.begin("speed of light");
    auto pct = [](const std::optional<Throughput>& throughput) {
        return throughput ? std::optional(throughput->pct) : std::nullopt;
    };
    to.add("compute", pct(profile.compute), "%", note_of(profile.compute));
    add_parts(to, profile, compute_parts());
    to.add("memory", pct(profile.memory), "%", note_of(profile.memory));
    add_parts(to, profile, memory_parts());
}

void access(Sections& to, std::string_view kind, const std::optional<AccessKind>& found) {
    if (!found) return;
    to.add(fmt::format("sectors per {} of a warp", kind), found->sectors_per_request, "",
           "4 for neighbouring 4-byte elements, 32 when scattered");
    to.add(fmt::format("bytes used of a {} sector", kind), found->bytes_per_sector, "", "of 32");
}

void memory(Sections& to, const KernelProfile& profile) {
    to.begin("memory");
    to.add("DRAM read", profile[dram_bytes_read], "byte");
    to.add("DRAM written", profile[dram_bytes_written], "byte");
    to.add("DRAM traffic", profile[dram_rate], "byte/s");
    to.add("found in L2", profile[l2_hit_pct], "%", "of the sectors requested from L2");
    to.add("found in L1", profile[l1_hit_pct], "%", "of the sectors requested from L1");
    access(to, "load", profile.accesses.loads);
    access(to, "store", profile.accesses.stores);
    to.add_if_any("sectors not needed", profile.accesses.excess_pct, "%",
                  "of the global sectors: accesses are not coalesced");
    to.add_if_any("shared memory passes", profile[shared_wavefronts], "");
    to.add_if_any("- added by bank conflicts", profile[bank_conflicts], "");
    to.add_if_any("local memory sectors", sum_of(profile.kernel, local_load_sectors, local_store_sectors), "sector",
                  "spilled registers and arrays of threads");
}

void occupancy(Sections& to, const KernelProfile& profile) {
    const LaunchFit& fit = profile.fit;
    to.begin("occupancy");
    to.add("theoretical", fit.theoretical_pct, "%",
           fit.limiter.empty() ? "" : fmt::format("limited by {}", fit.limiter));
    to.add("achieved", fit.achieved_pct, "%");
    to.add("waves", fit.waves, "", "grid size, in blocks that fit at once");
    to.add("empty in the last wave", fit.tail_pct, "%", "of the slots of all waves");
    to.add("imbalance", fit.imbalance_pct, "%", "what the average multiprocessor is idle while the longest works");
}

void stalls(Sections& to, const KernelProfile& profile) {
    if (!profile.stalls) return;
    to.begin("stalls");
    for (const StallShare& share : profile.stalls->shares)
        if (share.pct >= kShownStall) to.add(share.reason->name, share.pct, "%", share.reason->waits_for);
}

void instruction_mix(Sections& to, const KernelProfile& profile) {
    to.begin("instructions");
    to.add("per cycle of a multiprocessor", profile[ipc_active], "inst/cycle", "at most 4");
    to.add("cycles without one to issue", profile[no_eligible_pct], "%", "of a scheduler");
    to.add("threads per instruction", profile[threads_per_inst], "", "of 32");
    to.add("branches taken alike", profile[branches].value_or(0) > 0 ? profile[branch_efficiency] : std::nullopt, "%");
}

void arithmetic(Sections& to, const KernelProfile& profile) {
    to.begin("roofline");
    if (!profile.kernel.duration_ns())
        for (const OperationCount& count : operation_counts(profile.kernel))
            to.add(fmt::format("{} operations", count.precision), count.operations, "FLOP",
                   "a rate needs the duration");
    for (const RooflinePoint& point : roofline(profile.kernel)) {
        std::optional<double> roof = point.roof_flop_per_s();
        to.add(fmt::format("{}, {}", point.precision, name_of(point.level)), point.flop_per_s, "FLOP/s",
               fmt::format("{:.3g} FLOP/byte{}", point.flop_per_byte(),
                           roof ? fmt::format("; {:.0f} % of the roof of {}", 100 * point.flop_per_s / *roof,
                                              readable_scaled(*roof, "FLOP/s"))
                                : ""));
    }
}

void launch(Sections& to, const KernelProfile& profile) {
    to.begin("launch");
    to.add("duration", profile[duration], "ns");
    to.add("blocks", profile[grid_size], "");
    to.add("threads per block", profile[block_size], "");
    to.add("registers per thread", profile[registers], "");
    to.add("shared memory per block", sum_of(profile.kernel, shared_static, shared_dynamic), "byte");
    to.add("multiprocessors", profile[sms], "");
    to.add("SM clock", profile[sm_hz], "hz");
}

std::string what_is_shown(const Facts& facts, const SelectedKernel& selected) {
    const Trace& trace = facts.trace();
    const ProfiledKernelTable& table = trace.tables().profiled_kernel;
    const MeasuredKernel& kernel = facts.get<MeasuredKernels>().launches[selected.launch];
    std::string note = fmt::format("{} {}, launch {}", selected.group->handle,
                                   short_name(trace.text(selected.group->name)), table.launch[kernel.row]);
    if (selected.group->launches.size() > 1)
        note += fmt::format(" ({} of {} with counters{})",
                            selected.launch == selected.group->longest ? "the longest" : "one",
                            selected.group->launches.size(), "; --launch N shows another");
    return note + ".";
}

Result<ResultTable> kernel_table(const Facts& facts) {
    ResultTable table("kernel", kKernelColumns);
    table.whole = true;
    if (facts.get<MeasuredKernels>().groups.empty() && facts.options().kernel.empty()) {
        table.notes.push_back("No counters of kernels were recorded.");
        return table;
    }
    Result<SelectedKernel> selected = selected_kernel(facts);
    if (!selected.ok()) return selected.error();
    KernelProfile profile(facts.get<MeasuredKernels>().launches[selected->launch],
                          facts.trace().text(selected->group->name));
    Sections to(table);
    speed_of_light(to, profile);
    memory(to, profile);
    occupancy(to, profile);
    stalls(to, profile);
    instruction_mix(to, profile);
    arithmetic(to, profile);
    launch(to, profile);
    table.notes.push_back(what_is_shown(facts, *selected));
    return table;
}

}  // namespace

const Analysis kKernel{
    "kernel",       "",           "One kernel with counters: what holds it back, section by section.",
    kKernelColumns, kernel_table, {.reads = {AnalysisOption::kernel, AnalysisOption::launch}}};

}  // namespace gpuprof::tables
