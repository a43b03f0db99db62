#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/readable.h"

namespace gpuprof::compare {
namespace {

constexpr ResultColumn kColumns[] = {
    {"metric", CellType::text, Unit::none, "What was measured; metrics.def has them all."},
    {"base_ns", CellType::real, Unit::ns, "In BASE, for metrics that are times."},
    {"new_ns", CellType::real, Unit::ns, "In NEW."},
    {"base_bytes", CellType::real, Unit::bytes, "In BASE, for metrics that are sizes."},
    {"new_bytes", CellType::real, Unit::bytes, "In NEW."},
    {"change_pct", CellType::real, Unit::percent, "new over base, less 100 %."},
    {"low_pct", CellType::real, Unit::percent, "The change is at least this, with 95 %."},
    {"high_pct", CellType::real, Unit::percent, "The change is at most this, with 95 %."},
    {"verdict", CellType::text, Unit::none, "lower, higher, same or cannot tell."},
    {"noise_pct", CellType::real, Unit::percent,
     "Standard deviation of the samples over their mean, the larger side's."},
    {"base_samples", CellType::integer, Unit::count, "Steps or recordings of BASE; absent for a single value."},
    {"new_samples", CellType::integer, Unit::count, "Steps or recordings of NEW."},
    {"because", CellType::text, Unit::none, "What the verdict rests on."},
};

Cell cell(std::optional<double> value, bool shown = true) { return shown && value ? Cell{*value} : kAbsent; }
Cell count(std::size_t samples) { return samples > 0 ? Cell{static_cast<std::int64_t>(samples)} : kAbsent; }

std::string amount(double value, Unit unit) {
    return unit == Unit::bytes ? readable_bytes(value) : readable_duration(value);
}

}  // namespace

Values values_of(const Run& run) {
    Values values;
    for (std::size_t i = 0; i < kMetricCount; ++i) values[i] = run.metrics[i].value;
    return values;
}

Changes changes_of(const Run& base, const Run& next, std::span<const Values> base_repeats,
                   std::span<const Values> new_repeats) {
    Changes changes;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        const Measured &before = base.metrics[i], &after = next.metrics[i];
        auto values = [i](const Measured& first, std::span<const Values> repeats) {
            std::vector<double> all;
            if (first.value) all.push_back(*first.value);
            for (const Values& each : repeats)
                if (each[i]) all.push_back(*each[i]);
            return all;
        };
        std::vector<double> befores = values(before, base_repeats), afters = values(after, new_repeats);
        if (befores.size() + afters.size() > 2)
            changes[i] = change_of_runs(befores, afters);
        else if (!before.samples.empty() && !after.samples.empty())
            changes[i] = change_of_samples(before.samples, after.samples, "steps");
        else
            changes[i] = change_of_values(before.value, after.value);
    }
    return changes;
}

Changes changes_of(std::span<const Values> base, const Values& next) {
    Changes changes;
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        std::vector<double> before, after;
        for (const Values& each : base)
            if (each[i]) before.push_back(*each[i]);
        if (next[i]) after.push_back(*next[i]);
        changes[i] = change_of_runs(before, after);
    }
    return changes;
}

Metric deciding_metric(const Changes& changes) {
    const Change& steps = changes[static_cast<std::size_t>(Metric::step_p50)];
    return steps.base && steps.next ? Metric::step_p50 : Metric::wall_time;
}

Metric deciding_metric(const Run& base, const Run& next) {
    bool by_steps = !base.metric(Metric::step_p50).samples.empty() && !next.metric(Metric::step_p50).samples.empty();
    return by_steps ? Metric::step_p50 : Metric::wall_time;
}

ResultTable metrics_table(const Changes& changes) {
    ResultTable table("metrics", kColumns);
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        const Change& change = changes[i];
        if (!change.base && !change.next) continue;
        bool ns = kMetrics[i].unit == Unit::ns;
        table.add_row({
            Cell{kMetrics[i].name},
            cell(change.base, ns),
            cell(change.next, ns),
            cell(change.base, !ns),
            cell(change.next, !ns),
            cell(change.pct),
            cell(change.interval ? std::optional(change.interval->low) : std::nullopt),
            cell(change.interval ? std::optional(change.interval->high) : std::nullopt),
            Cell{name_of(change.word)},
            cell(change.noise_pct),
            count(change.base_samples),
            count(change.new_samples),
            Cell{std::string_view(change.because)},
        });
    }
    return table;
}

Comparison compare_runs(const Run& base, const Run& next, std::span<const Values> base_repeats,
                        std::span<const Values> new_repeats) {
    Comparison found{.deciding = deciding_metric(base, next),
                     .changes = changes_of(base, next, base_repeats, new_repeats),
                     .comparability = comparability_of(base, next),
                     .base_kernels = KernelNames(base),
                     .new_kernels = KernelNames(next),
                     .pairs = {},
                     .attribution = {}};
    found.pairs = match_kernels(base, found.base_kernels, next, found.new_kernels);
    found.attribution = attribute(base, found.base_kernels, next, found.new_kernels, found.pairs);
    return found;
}

std::vector<std::string> headline(const Changes& changes, Metric deciding, Word word) {
    const Change& change = changes[static_cast<std::size_t>(deciding)];
    const MetricSpec& spec = kMetrics[static_cast<std::size_t>(deciding)];
    std::string line(name_of_speed(word));
    if (change.pct) line += fmt::format("   {:+.2f} %", *change.pct);
    if (change.interval)
        line += fmt::format(" (95 %: {:+.2f} to {:+.2f} %)", change.interval->low, change.interval->high);
    if (change.base && change.next)
        line +=
            fmt::format(", {} {} -> {}", spec.name, amount(*change.base, spec.unit), amount(*change.next, spec.unit));
    return {line, change.because};
}

std::vector<std::string> headline(const Comparison& found) {
    std::vector<std::string> lines = headline(found.changes, found.deciding, found.word());
    if (!found.comparability.same_hardware)
        lines[1] = fmt::format("the hardware differs, so this says nothing about the program (measured: {}; {})",
                               name_of_speed(found.change().word), lines[1]);
    lines.push_back(attribution_line(found.attribution));
    return lines;
}

}  // namespace gpuprof::compare
