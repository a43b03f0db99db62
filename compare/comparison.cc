#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::compare {
namespace {

constexpr ResultColumn kComparisonColumns[] = {
    {"metric", CellType::text, Unit::none, "Name of the metric."},
    {"base_ns", CellType::real, Unit::ns, "Value in BASE, for times."},
    {"new_ns", CellType::real, Unit::ns, "Value in NEW, for times."},
    {"base_bytes", CellType::real, Unit::bytes, "Value in BASE, for sizes."},
    {"new_bytes", CellType::real, Unit::bytes, "Value in NEW, for sizes."},
    {"change_pct", CellType::real, Unit::percent, "Change relative to BASE."},
    {"low_pct", CellType::real, Unit::percent, "Lower end of the change's 95 % interval."},
    {"high_pct", CellType::real, Unit::percent, "Upper end of the change's 95 % interval."},
    {"verdict", CellType::text, Unit::none, "lower, higher, same or cannot tell."},
    {"noise_pct", CellType::real, Unit::percent,
     "Standard deviation of the samples relative to their mean, of the noisier side."},
    {"base_samples", CellType::integer, Unit::count,
     "Steps (for energy, blocks of steps) or recordings of BASE; absent for a single value."},
    {"new_samples", CellType::integer, Unit::count, "Steps or recordings of NEW."},
    {"because", CellType::text, Unit::none, "Basis of the verdict."},
    {"basis", CellType::text, Unit::none, "Kind of samples: steps, recordings, or values (one per side)."},
    {"confidence", CellType::text, Unit::none, "high or low; absent if the verdict is cannot tell."},
    {"base_j", CellType::real, Unit::joule, "Value in BASE, for energies."},
    {"new_j", CellType::real, Unit::joule, "Value in NEW, for energies."},
};

Cell count(std::size_t samples) { return samples > 0 ? Cell{static_cast<std::int64_t>(samples)} : kAbsent; }

std::string_view basis_of(const Change& change) {
    if (change.base_samples == 0) return "values";
    return change.of_runs ? "recordings" : "steps";
}

Change change_of_steps(Metric metric, std::span<const double> base, std::span<const double> next, bool one_process) {
    switch (metric) {
        case Metric::step_mean: return change_of_means(base, next, "steps", one_process);
        case Metric::step_p95: return change_of_p95(base, next, "steps", one_process);
        case Metric::step_total: return change_of_sums(base, next, "steps", one_process);
        case Metric::energy: return change_of_samples(base, next, kBlocks, one_process);
        default: return change_of_samples(base, next, "steps", one_process);
    }
}

// Whether both are parts of one process: the same process id, and disjoint correlation ids, which a process counts up.
// Two runs in containers often have the same process id, but their correlation ids start at the same number.
bool one_process(const Run& base, const Run& next) {
    struct Process {
        std::optional<std::int64_t> pid, first, last;
    };
    auto process_of = [](const Run& run) {
        Process process;
        const ProcessTable& processes = run.trace->tables().process;
        for (Row row = 0; row < processes.rows && !process.pid; ++row)
            if (processes.pid.has(row)) process.pid = processes.pid[row];
        const KernelTable& kernels = run.trace->kernel();
        for (Row row = 0; row < kernels.rows; ++row) {
            if (!kernels.correlation.has(row)) continue;
            std::int64_t id = kernels.correlation[row];
            process.first = std::min(process.first.value_or(id), id);
            process.last = std::max(process.last.value_or(id), id);
        }
        return process;
    };
    Process before = process_of(base), after = process_of(next);
    if (!before.pid || before.pid != after.pid || !before.first || !after.first) return false;
    return *before.last < *after.first || *after.last < *before.first;
}

// Whether a metric of the steps sees their tail, which grows without a change of the median.
bool of_tail(std::size_t metric) {
    auto which = static_cast<Metric>(metric);
    return which == Metric::step_mean || which == Metric::step_p95 || which == Metric::step_total;
}

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
    bool within = one_process(base, next);
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
            changes[i] = without_states(change_of_runs(befores, afters), before.samples, after.samples);
        else if (!before.samples.empty() && !after.samples.empty())
            changes[i] = change_of_one_pair(
                change_of_steps(static_cast<Metric>(i), before.samples, after.samples, within), before.samples,
                after.samples, of_tail(i) && changes[static_cast<std::size_t>(Metric::step_p50)].word == Word::same);
        else
            changes[i] = change_of_values(before.value, after.value);
    }
    Change& energy = changes[static_cast<std::size_t>(Metric::energy)];
    energy = allow_for_sensors(std::move(energy), base.energy, next.energy);
    withdraw_contradicted(changes, base.metric(Metric::step_p50).samples, next.metric(Metric::step_p50).samples);
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
    withdraw_contradicted(changes, {}, {});
    return changes;
}

Metric deciding_metric(const Changes& changes) {
    auto of = [&](Metric metric) -> const Change& { return changes[static_cast<std::size_t>(metric)]; };
    const Change &median = of(Metric::step_p50), &mean = of(Metric::step_mean);
    if (!median.base || !median.next) return Metric::wall_time;
    bool unclear =
        median.word == Word::cannot_tell && (mean.of_runs || std::abs(mean.pct.value_or(0)) >= kMinChangeOfFew);
    bool opposite = decided(median) && median.word != mean.word;
    return decided(mean) && (median.word == Word::same || unclear || opposite) ? Metric::step_mean : Metric::step_p50;
}

ResultTable metrics_table(const Changes& changes) {
    ResultTable table("metrics", kComparisonColumns);
    table.wanted = {"change_pct", "low_pct", "high_pct", "verdict"};
    for (std::size_t i = 0; i < kMetricCount; ++i) {
        const Change& change = changes[i];
        if (!change.base && !change.next) continue;
        auto in = [&](Unit unit, const std::optional<double>& value) {
            return kMetrics[i].unit == unit ? real(value) : kAbsent;
        };
        table.add_row({
            Cell{kMetrics[i].name},
            in(Unit::ns, change.base),
            in(Unit::ns, change.next),
            in(Unit::bytes, change.base),
            in(Unit::bytes, change.next),
            real(change.pct),
            real(change.interval ? std::optional(change.interval->low) : std::nullopt),
            real(change.interval ? std::optional(change.interval->high) : std::nullopt),
            Cell{name_of(change.word)},
            real(change.noise_pct),
            count(change.base_samples),
            count(change.new_samples),
            Cell{std::string_view(change.because)},
            Cell{basis_of(change)},
            change.word == Word::cannot_tell ? kAbsent : Cell{change.few ? "low" : "high"},
            in(Unit::joule, change.base),
            in(Unit::joule, change.next),
        });
    }
    return table;
}

namespace {

constexpr std::string_view kSingleRuns =
    "one recording per side: run-to-run variation is unknown; measure it with --repeat-base and --repeat-new";

// If the two were recorded differently, and the recorder's cost on the host can explain the difference of the steps,
// kernel time per step is compared instead: no recorder changes it by much.
void decide_despite_recorders(Comparison& found, const Run& base, const Run& next) {
    std::string differs = recorders_differ(base, next);
    const Change& steps = found.change();
    const Change& kernels = found.changes[static_cast<std::size_t>(Metric::kernel_time)];
    if (differs.empty() || !steps.base || !steps.next || !kernels.pct || steps.word == Word::same) return;
    double slack = 1 + kSameWithin / 100;
    if (*steps.next - recorder_cost(next, base) > slack * *steps.base ||
        *steps.base - recorder_cost(base, next) > slack * *steps.next)
        return;
    found.recorders_because =
        fmt::format("{}, which can explain why the {} changed by {:+.1f} %; the verdict uses kernel time per step",
                    differs, kMetrics[static_cast<std::size_t>(found.deciding)].words, steps.pct.value_or(0));
    found.deciding = Metric::kernel_time;
}

}  // namespace

Comparison compare_runs(const Run& base, const Run& next, std::span<const Values> base_repeats,
                        std::span<const Values> new_repeats) {
    Comparison found{.deciding = Metric::wall_time,
                     .changes = changes_of(base, next, base_repeats, new_repeats),
                     .comparability = comparability_of(base, next),
                     .base_kernels = KernelNames(base),
                     .new_kernels = KernelNames(next),
                     .pairs = {},
                     .attribution = {},
                     .recorders_because = {},
                     .common = {},
                     .single_runs = base_repeats.empty() && new_repeats.empty()};
    found.deciding = deciding_metric(found.changes);
    decide_despite_recorders(found, base, next);
    if (found.single_runs) found.comparability.statements.push_back({false, std::string(kSingleRuns)});
    found.pairs = match_kernels(base, found.base_kernels, next, found.new_kernels);
    found.attribution = attribute(base, found.base_kernels, next, found.new_kernels, found.pairs);
    decide_by_cause(found, base, next);
    decide_by_kernel(found, base, next);
    judge_common_kernels(found, base, next);
    return found;
}

std::vector<std::string> headline(const Changes& changes, Metric deciding, Word word) {
    const Change& change = changes[static_cast<std::size_t>(deciding)];
    const MetricSpec& spec = kMetrics[static_cast<std::size_t>(deciding)];
    std::string line(name_of_speed(word));
    if (change.pct) line += fmt::format("   {:+.2f} %", *change.pct);
    bool doubtful = change.few && word != Word::cannot_tell;
    if (change.interval)
        line += fmt::format(" ({}95 %: {:+.2f} to {:+.2f} %)", doubtful ? "low confidence; " : "", change.interval->low,
                            change.interval->high);
    else if (doubtful)
        line += " (low confidence)";
    if (change.base && change.next)
        line +=
            fmt::format(", {} {} -> {}", spec.words, amount(*change.base, spec.unit), amount(*change.next, spec.unit));
    return {line, change.because};
}

std::vector<std::string> headline(const Comparison& found) {
    std::vector<std::string> lines = headline(found.changes, found.deciding, found.word());
    if (std::string_view differs = found.not_comparable(); !differs.empty())
        lines[1] = fmt::format("{}, so there is no verdict (measured: {}; {})", differs,
                               name_of_speed(found.change().word), lines[1]);
    if (!found.recorders_because.empty()) lines[1] += fmt::format("; {}", found.recorders_because);
    lines.push_back(attribution_line(found.attribution));
    if (found.single_runs) lines.emplace_back(kSingleRuns);
    return lines;
}

}  // namespace gpuprof::compare
