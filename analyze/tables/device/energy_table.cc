// `energy`: which part of the program used how much energy? One row per device, step, state of work, range and operator,
// with an uncertainty that covers the sensor. facts/device_energy.h measures intervals, facts/power_model.h tells classes
// of work apart.
//
// device: the whole window. steps: all of them. work: the time in which exactly these classes of kernels and copies ran;
// these rows and idle partition the window. ranges: from the first start to the last end of the device work submitted
// in each instance, idle time between included. ops: while a kernel launched by the operator ran, and all that ran
// next to it. Ranges contain one another, so the rows of a kind need not add up.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "analyze/facts/activity.h"
#include "analyze/facts/device_op.h"
#include "analyze/facts/energy/energy_use.h"
#include "analyze/facts/host/op_tree.h"
#include "analyze/facts/host/range_tree.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/ids.h"

namespace gpuprof::inline tables {
namespace {

struct EnergyRow {
    std::string_view kind, name;
    std::int32_t device;
    std::uint64_t count;
    DurNs time;
    const EnergyEstimate& of;
    std::optional<double> whole_j;
};

constexpr auto kEnergyColumns = columns_of<EnergyRow>({
    {"class", CellType::text, Unit::none, "Kind of row: device, steps, work, range or op.",
     [](auto& r) { return r.kind; }},
    {"name", CellType::text, Unit::none, "Step family, classes of work in flight (or idle), range path, operator.",
     [](auto& r) { return text_cell(r.name); }},
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.device; }},
    {"count", CellType::integer, Unit::count, "Number of steps, of stretches of time, of instances, of kernels.",
     [](auto& r) { return r.count; }},
    {"time_ns", CellType::integer, Unit::ns, "Time that the energy is of.", [](auto& r) { return r.time; }},
    {"energy_j", CellType::real, Unit::joule, "Energy of the board in that time; absent if it cannot be known.",
     [](auto& r) { return r.of ? real(r.of.joules) : kAbsent; }},
    {"uncertainty_j", CellType::real, Unit::joule,
     "Error of energy_j in either direction (95 %), including 5 % of the sensor.",
     [](auto& r) { return r.of ? real(r.of.uncertainty_j) : kAbsent; }},
    {"per_count_j", CellType::real, Unit::joule, "energy_j / count.",
     [](auto& r) { return r.of ? ratio(r.of.joules, static_cast<double>(r.count)) : kAbsent; }},
    {"mean_w", CellType::real, Unit::watt, "energy_j / time_ns.",
     [](auto& r) { return r.of ? ratio(r.of.joules * kNsPerSecond, static_cast<double>(r.time)) : kAbsent; }},
    {"share_pct", CellType::real, Unit::percent, "Share of the energy of the device over the window.",
     [](auto& r) { return r.of && r.whole_j ? percent(r.of.joules, *r.whole_j) : kAbsent; }},
    {"basis", CellType::text, Unit::none, "counter, power samples, or model (power of the classes by regression).",
     [](auto& r) { return text_cell(name_of(r.of.basis)); }},
    {"because", CellType::text, Unit::none, "Why the energy is absent.",
     [](auto& r) { return text_cell(r.of.because); }},
});

class EnergyRows {
public:
    EnergyRows(ResultTable& table, std::int32_t device, std::optional<double> whole_j)
        : table_(table), device_(device), whole_j_(whole_j) {}

    void add(std::string_view kind, std::string_view name, std::uint64_t count, DurNs time, const EnergyEstimate& of) {
        table_.add(kEnergyColumns, {kind, name, device_, count, time, of, whole_j_});
    }

private:
    ResultTable& table_;
    std::int32_t device_;
    std::optional<double> whole_j_;
};

// Absent if its uncertainty says that nothing is known.
EnergyEstimate useful(EnergyEstimate found) {
    if (!found || found.useful()) return found;
    return {EnergySource::none, 0, 0,
            fmt::format("too uncertain: {:.3g} J +- {:.3g} J", found.joules, found.uncertainty_j)};
}

std::string names_of(const WorkStates& states, const StateGroup& group) {
    std::string text;
    for (std::uint32_t state : group) text += (text.empty() ? "" : ", ") + states.names()[state];
    return text;
}

void add_work(EnergyRows& rows, const EnergyOfDevice& device) {
    const WorkStates& states = device.states();
    const PowerModel& model = device.model();
    std::vector<double> seconds = states.seconds_in(states.window());
    std::vector<std::uint32_t> order(states.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return seconds[a] > seconds[b]; });
    auto time_of = [&](std::uint32_t state) { return static_cast<DurNs>(std::llround(seconds[state] * kNsPerSecond)); };
    std::vector<bool> shown(model.groups().size());
    for (std::uint32_t state : order) {
        if (seconds[state] <= 0) continue;
        EnergyEstimate found;
        found.because = model.because();
        if (model.known()) {
            std::uint32_t at = model.group_of(state);
            const StateGroup& group = model.groups()[at];
            if (group.size() == 1) {
                found = useful(model.energy_of_group(at, seconds));
            } else {
                if (!shown[at]) {
                    shown[at] = true;
                    DurNs time = 0;
                    std::uint64_t count = 0;
                    for (std::uint32_t each : group) {
                        time += time_of(each);
                        count += states.counts()[each];
                    }
                    rows.add("work", names_of(states, group), count, time, useful(model.energy_of_group(at, seconds)));
                }
                found.because = fmt::format("its share of the time does not vary apart from the others of: {}",
                                            names_of(states, group));
            }
        }
        rows.add("work", states.names()[state], states.counts()[state], time_of(state), found);
    }
}

// The intervals of the device work of each range path, one interval per instance.
void add_ranges(EnergyRows& rows, const Facts& facts, const RangeTree& tree, const EnergyOfDevice& device) {
    const Trace& trace = facts.trace();
    PodVector<Interval> spans(tree.instances().size(), Interval{INT64_MAX, INT64_MIN});
    DeviceOps ops(trace, device.device());
    while (ops.next())
        for (std::uint32_t at = tree.instance_of_call(launch_of(trace, ops.kind(), ops.row())); at != kNoRange;
             at = tree.instances()[at].parent) {
            spans[at].start = std::min(spans[at].start, ops.span().start);
            spans[at].end = std::max(spans[at].end, ops.span().end);
        }
    std::vector<Intervals> paths(tree.paths().size());
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (spans[i].start < spans[i].end) paths[tree.instances()[i].path].push_back(spans[i]);
    std::vector<std::pair<DurNs, std::uint32_t>> order;
    std::vector<IntervalSet> sets;
    std::vector<std::uint64_t> counts;
    for (std::uint32_t path = 0; path < paths.size(); ++path) {
        counts.push_back(paths[path].size());
        sets.push_back(unite(std::move(paths[path])));
        if (!sets.back().empty()) order.emplace_back(-length(sets.back()), path);
    }
    std::sort(order.begin(), order.end());
    for (auto [time, path] : order) rows.add("range", tree.text(path), counts[path], -time, device.over(sets[path]));
}

void add_ops(EnergyRows& rows, const Facts& facts, OpOfKernel& op_of, const EnergyOfDevice& device) {
    const Trace& trace = facts.trace();
    struct Of {
        IntervalSet set;
        std::uint64_t kernels = 0;
    };
    std::map<std::string_view, Of> ops;
    for (Row row = 0; row < trace.kernel().rows; ++row) {
        if (trace.kernel().device.value_or(row, -1) != device.device()) continue;
        Row op = op_of.find(row);
        if (op == kNoRow) continue;
        Of& to = ops[trace.text(trace.op().name.value_or(op, kNoString))];
        add_merged(to.set, {trace.kernel().start[row], trace.kernel().start[row] + trace.kernel().dur[row]});
        ++to.kernels;
    }
    std::vector<std::pair<DurNs, std::string_view>> order;
    for (const auto& [name, of] : ops) order.emplace_back(-length(of.set), name);
    std::sort(order.begin(), order.end());
    for (auto [time, name] : order) rows.add("op", name, ops[name].kernels, -time, device.over(ops[name].set));
}

void add_device(ResultTable& table, const Facts& facts, const EnergyOfDevice& device, const RangeTree& tree,
                OpOfKernel& op_of) {
    Interval window = facts.trace().window();
    EnergyEstimate whole = device.over(window);
    EnergyRows rows(table, device.device(), whole ? std::optional(whole.joules) : std::nullopt);
    rows.add("device", "whole window", 1, window.length(), whole);
    add_work(rows, device);
    const Steps& found = facts.get<Steps>();
    if (!found.steps.empty()) {
        Intervals spans;
        for (const Step& step : found.steps) spans.push_back({step.start, step.end});
        IntervalSet set = unite(std::move(spans));
        rows.add("steps", found.family.empty() ? "step" : found.family, found.steps.size(), length(set),
                 device.over(set));
    }
    add_ranges(rows, facts, tree, device);
    add_ops(rows, facts, op_of, device);
}

Result<ResultTable> energy_table(const Facts& facts) {
    ResultTable table("energy", kEnergyColumns);
    const EnergyUse& use = facts.get<EnergyUse>();
    if (!use.devices.empty()) {
        RangeTree tree(facts.trace());
        OpOfKernel op_of(facts.trace());
        for (const auto& device : use.devices) add_device(table, facts, *device, tree, op_of);
    }
    // Boards whose work was not recorded, in captures of samples alone.
    for (const EnergyCurve& curve : facts.get<DeviceEnergies>().curves) {
        if (use.of(curve.device()) != nullptr) continue;
        EnergyEstimate whole = curve.over(curve.sampled());
        EnergyRows(table, curve.device(), whole ? std::optional(whole.joules) : std::nullopt)
            .add("device", "all samples", 1, curve.sampled().length(), whole);
    }
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (use.of(device.device) == nullptr)
            table.notes.push_back(
                fmt::format("Device {}: {}.", device.device, DeviceEnergies::absent_because(facts, device.device)));
    if (table.rows() == 0 && table.notes.empty())
        table.notes.push_back("No power samples with times were recorded; gpu-profile record -- CMD records them.");
    return table;
}

}  // namespace

const Analysis kEnergy{"energy", "", "Energy by device, step, class of work, range and operator, and how sure it is.",
                       kEnergyColumns, energy_table};

}  // namespace gpuprof::tables
