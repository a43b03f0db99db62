// `whatif`: how long a step would be with one thing changed, by replaying the recording.
#include <fmt/format.h>

#include <cmath>

#include "analyze/facts/host/host_copies.h"
#include "analyze/facts/host/link_to_host.h"
#include "analyze/facts/idle/profiler_cost.h"
#include "analyze/facts/steps/serving_phases.h"
#include "analyze/replay/prediction.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

struct WhatIfRow {
    std::string_view kind;
    std::string change;
    DurNs step = 0;
    std::optional<DurNs> low = {}, high = {}, profiled_step = {};
    std::optional<double> gain = {}, gain_low = {}, gain_high = {};  // as a part
    std::optional<std::string_view> confidence = {}, assumes = {}, effort = {};
    std::optional<DurNs> floor = {};
};

Cell in_percent(const std::optional<double>& part) { return part ? real(100 * *part) : kAbsent; }

constexpr auto kWhatifColumns = columns_of<WhatIfRow>({
    {"kind", CellType::text, Unit::none,
     "recorded, baseline (without the profiler's cost), single, plan, together or floor.",
     [](auto& r) { return r.kind; }},
    {"change", CellType::text, Unit::none, "What is changed; in a plan, on top of the rows above.",
     [](auto& r) { return r.change; }},
    {"step_ns", CellType::integer, Unit::ns, "Predicted time of a step, without the profiler's cost.",
     [](auto& r) { return r.step; }},
    {"low_ns", CellType::integer, Unit::ns, "Lower end of its range.", [](auto& r) { return r.low; }},
    {"high_ns", CellType::integer, Unit::ns, "Upper end of its range.", [](auto& r) { return r.high; }},
    {"gain_pct", CellType::real, Unit::percent, "Predicted gain, of a step without the profiler's cost.",
     [](auto& r) { return in_percent(r.gain); }},
    {"profiled_step_ns", CellType::integer, Unit::ns, "Predicted time of a step under the same profiler.",
     [](auto& r) { return r.profiled_step; }},
    {"confidence", CellType::text, Unit::none, "good or rough.", [](auto& r) { return r.confidence; }},
    {"assumes", CellType::text, Unit::none, "What must hold for the prediction to come true.",
     [](auto& r) { return r.assumes; }},
    {"gain_low_pct", CellType::real, Unit::percent, "Lower end of the range of the gain.",
     [](auto& r) { return in_percent(r.gain_low); }},
    {"gain_high_pct", CellType::real, Unit::percent, "Upper end of the range of the gain.",
     [](auto& r) { return in_percent(r.gain_high); }},
    {"floor_ns", CellType::integer, Unit::ns,
     "Time of the kernels of the busiest stream in such a step, at least: no step is shorter.",
     [](auto& r) { return r.floor; }},
    {"effort", CellType::text, Unit::none,
     "What the change asks of the program: option (a setting), edit (some lines) or rewrite. Changes are ordered by "
     "gain and "
     "effort: an option comes before a rewrite that gains less than twice as much.",
     [](auto& r) { return r.effort; }},
});

void add(ResultTable& table, std::string_view kind, const Prediction& prediction) {
    WhatIfRow row{.kind = kind,
                  .change = "without the profiler",
                  .step = prediction.step.central,
                  .low = prediction.step.low,
                  .high = prediction.step.high,
                  .profiled_step = prediction.recorded,
                  .confidence = name_of(prediction.certainty),
                  .assumes = "the profiler's cost per record",
                  .floor = prediction.floor};
    if (!prediction.edits.empty()) {
        row.change = text_of(prediction.edits.back());
        row.assumes = rule_of(prediction.edits.back().change).assumes;
        row.effort = name_of(rule_of(prediction.edits.back().change).effort);
        row.gain = prediction.gain;
        row.gain_low = prediction.gain_low;
        row.gain_high = prediction.gain_high;
    }
    if (kind == "together") {
        row.change.clear();
        row.effort.reset();
        for (const Edit& edit : prediction.edits) row.change += (row.change.empty() ? "" : "; ") + text_of(edit);
    }
    table.add(kWhatifColumns, row);
}

void add_baseline(ResultTable& table, const Facts& facts, const Prediction& baseline) {
    const RecorderPrice& price = facts.get<RecorderPrice>();
    if (price.measured)
        table.notes.push_back(fmt::format("Recording a call cost {} to {} ns, as the recorder measured in this run.",
                                          price.price.call.low, price.price.call.high));
    if (!facts.get<ReplayGraph>().recorded_work.empty()) return add(table, "baseline", baseline);
    table.notes.push_back("The profiler's cost per record is unknown, so predictions include it.");
}

void add_checks(ResultTable& table, const Facts& facts, DurNs recorded_step) {
    const ReplayValidity& validity = facts.get<ReplayValidity>();
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    table.notes.push_back(
        fmt::format("Checks: a replay by typical delays misses the recorded step by {:.1f} %; nothing recorded "
                    "explains {:.1f} % of it.",
                    100 * std::abs(validity.model_error), 100 * validity.unexplained));
    DurNs in_steps = recorded_step * static_cast<DurNs>(graph.steps.size()), window = facts.trace().window().length();
    if (2 * in_steps < window)
        table.notes.push_back(fmt::format("Steps take {} of {}: nothing is predicted for the rest.",
                                          readable_duration(in_steps), readable_duration(window)));
    if (graph.inferred_events > 0)
        table.notes.push_back(
            fmt::format("{} waits between streams are inferred from the order of operations.", graph.inferred_events));
    if (facts.get<HostCopies>().pageable > 0)
        table.notes.push_back(fmt::format("Pinned copies are taken to reach {}.", facts.get<HostLink>().text()));
    if (graph.steps.size() < kSureSteps)
        table.notes.push_back(fmt::format("{} {}: predictions are rough, and their ranges wide.", graph.steps.size(),
                                          graph.steps.size() == 1 ? "step" : "steps"));
    if (!graph.independent.empty())
        table.notes.push_back(fmt::format("{} threads submit work and are taken to be independent of the others.",
                                          graph.independent.size()));
}

// The changes that the user names: each alone, and all together. Returns the recorded step.
DurNs add_given(ResultTable& table, const Facts& facts, const std::vector<Edit>& edits) {
    const Prediction baseline = *predict(facts, {});
    add_baseline(table, facts, baseline);
    std::vector<Edit> effective;
    for (const Edit& edit : edits) {
        std::optional<Prediction> prediction = predict(facts, {edit});
        if (!prediction) {
            table.notes.push_back(fmt::format("{} changes nothing in this recording.", text_of(edit)));
            continue;
        }
        add(table, "single", *prediction);
        effective.push_back(edit);
    }
    if (effective.size() > 1)
        if (std::optional<Prediction> all = predict(facts, effective)) add(table, "together", *all);
    return baseline.recorded;
}

// Every known change that gains enough, then the plan that puts them together. Returns the recorded step.
DurNs add_usual(ResultTable& table, const Facts& facts) {
    const WhatIf& found = facts.get<WhatIf>();
    table.add(kWhatifColumns, {.kind = "recorded",
                               .change = "as recorded",
                               .step = found.recorded_step,
                               .profiled_step = found.recorded_step});
    add_baseline(table, facts, found.baseline);
    for (const Prediction& each : found.single) add(table, "single", each);
    for (const Prediction& each : found.plan) add(table, "plan", each);
    table.add(kWhatifColumns, {.kind = "floor",
                               .change = "kernels alone",
                               .step = found.floor,
                               .assumes = "kernels as fast as in the rows above"});
    std::string names;
    for (Change change : found.small) names += (names.empty() ? "" : ", ") + std::string(rule_of(change).name);
    if (names.empty()) return found.recorded_step;
    table.notes.push_back(fmt::format("Under {:.0f} %, or possibly nothing: {}.", 100 * kWorthChanging, names));
    return found.recorded_step;
}

// A larger batch makes more tokens in longer steps, so it has no row of its own.
void add_larger_batch(ResultTable& table, const Facts& facts) {
    for (const PhaseTotals& each : facts.get<ServingPhases>().totals) {
        if (!each.tokens_per_s_of_twice) continue;
        auto [least, most] = *each.tokens_per_s_of_twice;
        table.notes.push_back(
            fmt::format("Larger batch (rough): with twice the requests, decode steps would make {:.0f} to {:.0f} "
                        "tokens/s instead of "
                        "{:.0f}, if the KV cache has room; each step would take longer.",
                        least, most, 1e9 * static_cast<double>(*each.output_tokens) / static_cast<double>(each.wall)));
        return;
    }
}

Result<ResultTable> whatif_table(const Facts& facts) {
    ResultTable table("whatif", kWhatifColumns);
    table.wanted = {"step_ns", "gain_pct", "confidence"};
    Result<std::vector<Edit>> edits = parse_edits(facts.options().changes);
    if (!edits.ok()) return edits.error();
    const ReplayValidity& validity = facts.get<ReplayValidity>();
    if (!validity.why_not.empty()) {
        table.notes.push_back(fmt::format("No prediction: {}; {}.", validity.why_not, validity.cure));
        return table;
    }
    DurNs step = edits->empty() ? add_usual(table, facts) : add_given(table, facts, *edits);
    add_checks(table, facts, step);
    add_larger_batch(table, facts);
    return table;
}

}  // namespace

const Analysis kWhatIf{
    "whatif",
    "",
    "Predicted step time with one thing changed, by replaying the recording.",
    kWhatifColumns,
    whatif_table,
    {.about_idle = true, .replays = true, .reads = {AnalysisOption::changes, AnalysisOption::input_range}}};

}  // namespace gpuprof::tables
