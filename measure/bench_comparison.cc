// See the header for the method and its sources.
#include "measure/bench_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/random.h"

namespace gpuprof::measure {
namespace {

constexpr double kReported = 0.95, kStrict = 0.99;
constexpr int kResamples = 2000;
// What is assumed of the differences between runs of the same code, measured by tests/evaluate/run_to_run.py on a
// machine with two to six times more work than CPUs: half of the interquartile range within a run, at least 0.1 %, known
// as well as from four runs. The medians of two runs were further apart than the 95 % interval says in 0 to 5 %.
constexpr double kShareOfRange = 0.5, kLeastRunNoise = 0.001;
constexpr std::size_t kAssumedDegrees = 3;
// Two processes that take turns share the drift: the same file against itself had a speedup that was off by as much, relative
// to the interquartile range of the ratios (tests/evaluate/trials.py).
constexpr double kShareOfRatios = 0.15;
constexpr std::uint64_t kSeed = 20240229;

// One side, ready to be resampled.
struct Side {
    std::vector<double> sorted;
    double effective = 0;

    explicit Side(std::span<const double> samples)
        : sorted(samples.begin(), samples.end()), effective(effective_count_of(samples)) {
        std::sort(sorted.begin(), sorted.end());
    }
    double median() const { return percentile_of(sorted, 50); }
    // The median of one resample, interpolated between neighbouring samples, so that a small sample does not produce
    // steps.
    double resample(Random& random) const {
        double shape = (effective + 1) / 2, last = static_cast<double>(sorted.size() - 1);
        double place = random.beta(shape, shape) * static_cast<double>(sorted.size()) - 0.5;
        place = std::clamp(place, 0.0, last);
        auto below = static_cast<std::size_t>(place);
        std::size_t above = std::min(below + 1, sorted.size() - 1);
        return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
    }
};

Interval middle_of(std::span<const double> sorted, double level) {
    double outside = (1 - level) / 2 * 100;
    return {percentile_of(sorted, outside), percentile_of(sorted, 100 - outside), level};
}

void compare_unpaired(std::span<const double> baseline, std::span<const double> candidate, Comparison& to) {
    Side before(baseline), after(candidate);
    if (after.median() <= 0 || before.median() <= 0) return;
    to.speedup = before.median() / after.median();
    if (std::min(before.effective, after.effective) < static_cast<double>(min_count_for(kStrict))) return;
    Random random(kSeed);
    std::vector<double> ratios;
    ratios.reserve(kResamples);
    for (int i = 0; i < kResamples; ++i) {
        double numerator = before.resample(random), denominator = after.resample(random);
        ratios.push_back(denominator > 0 ? numerator / denominator : HUGE_VAL);
    }
    std::sort(ratios.begin(), ratios.end());
    to.interval = middle_of(ratios, kReported);
    to.strict_interval = middle_of(ratios, kStrict);
}

// The interval within the processes, widened by what runs differ by.
std::optional<Interval> widened(const std::optional<Interval>& within, double centre, double error, double level,
                                std::size_t degrees) {
    double between = student_t(level, degrees) * error, low = between, high = between;
    if (within) {
        low = std::hypot(between, std::max(0.0, centre - std::log(within->low)));
        high = std::hypot(between, std::max(0.0, std::log(within->high) - centre));
    }
    return Interval{std::exp(centre - low), std::exp(centre + high), level};
}

void compare_paired(std::span<const double> baseline, std::span<const double> candidate, bool two_processes,
                    Comparison& to) {
    std::vector<double> ratios(baseline.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        if (baseline[i] <= 0 || candidate[i] <= 0) return;
        ratios[i] = baseline[i] / candidate[i];
    }
    double effective = effective_count_of(ratios);
    std::sort(ratios.begin(), ratios.end());
    to.speedup = percentile_of(ratios, 50);
    to.interval = median_interval_of(ratios, kReported, effective);
    to.strict_interval = median_interval_of(ratios, kStrict, effective);
    if (!to.strict_interval) to.interval.reset();
    if (!to.interval || !two_processes) return;
    double range = (percentile_of(ratios, 75) - percentile_of(ratios, 25)) / *to.speedup;
    double centre = std::log(*to.speedup), error = std::max(kLeastRunNoise, kShareOfRatios * range);
    to.interval = widened(to.interval, centre, error, kReported, kAssumedDegrees);
    to.strict_interval = widened(to.strict_interval, centre, error, kStrict, kAssumedDegrees);
}

// Logarithms of the medians of one side's runs.
struct Runs {
    std::vector<double> logs;
    double mean = 0, squares = 0;  // sum of squared deviations
    double assumed = 0;            // sum of the variances assumed of each run
};

Runs runs_of(std::span<const SampledRun> side) {
    Runs runs;
    for (const SampledRun& run : side) {
        Statistics s = statistics_of(run.samples);
        if (s.median <= 0) return {};
        double noise = std::max({kLeastRunNoise, kShareOfRange * (s.p75 - s.p25) / s.median, run.busy});
        runs.logs.push_back(std::log(s.median));
        runs.mean += runs.logs.back() / static_cast<double>(side.size());
        runs.assumed += noise * noise;
    }
    for (double value : runs.logs) runs.squares += (value - runs.mean) * (value - runs.mean);
    return runs;
}

double noise_of(std::span<const double> samples) { return statistics_of(samples).noise; }

SpeedVerdict verdict_of(const Comparison& found) {
    if (!found.speedup || !found.strict_interval) return SpeedVerdict::cannot_tell;
    const Interval& interval = *found.strict_interval;
    double most = 1 + found.min_effect, least = 1 / most;
    if (interval.low >= least && interval.high <= most) return SpeedVerdict::same;
    if (interval.low > 1 && *found.speedup >= most) return SpeedVerdict::faster;
    if (interval.high < 1 && *found.speedup <= least) return SpeedVerdict::slower;
    return SpeedVerdict::cannot_tell;
}

std::string runs_text(const Comparison& found) {
    if (found.min_runs == 0) return "";
    return fmt::format(" (runs of the same code {} by {:.2g} %)",
                       found.min_runs == 1 ? "are assumed to differ" : "differ", found.run_noise * 100);
}

std::string reason_of(const Comparison& found) {
    if (found.baseline_count == 0 || found.candidate_count == 0) return "a side has no samples";
    if (!found.speedup) return "a time is 0, too short for the timer";
    if (!found.strict_interval)
        return fmt::format(
            "{} and {} samples are too few for a verdict; at least {} independent samples per side are needed",
            found.baseline_count, found.candidate_count, min_count_for(kStrict));
    const Interval& interval = *found.strict_interval;
    std::string where = fmt::format("the 99 % interval of the speedup is {:.4f} to {:.4f}{}", interval.low,
                                    interval.high, runs_text(found));
    switch (found.verdict) {
        case SpeedVerdict::faster: return where + ", entirely above 1";
        case SpeedVerdict::slower: return where + ", entirely below 1";
        case SpeedVerdict::same: return fmt::format("{}, within {:.3g} % of 1", where, found.min_effect * 100);
        case SpeedVerdict::cannot_tell: break;
    }
    return fmt::format("{}: {}", where,
                       interval.low > 1 || interval.high < 1
                           ? fmt::format("there is a difference, but possibly below {:.3g} %", found.min_effect * 100)
                       : found.min_runs == 1 ? "both directions are possible; measure several runs per side"
                                             : "both directions are possible; take more samples or reduce the noise");
}

// In percent; 0 if no run stalled.
double longest_stall(std::span<const SampledRun> baseline, std::span<const SampledRun> candidate) {
    double longest = 0;
    for (std::span<const SampledRun> side : {baseline, candidate})
        for (const SampledRun& run : side) longest = std::max(longest, run.stalled.value_or(0));
    return longest;
}

// The medians of such runs differ by three orders of magnitude, and nothing within a run tells.
Comparison undecided(Comparison found, double stalled) {
    found.interval.reset();
    found.strict_interval.reset();
    found.verdict = SpeedVerdict::cannot_tell;
    found.reason = fmt::format(
        "its threads wait for each other, and waited {:.0f} % of the time for a CPU: the times are those of other "
        "programs; measure on a quieter machine, or several runs per side",
        stalled);
    return found;
}

}  // namespace

std::string_view name_of(SpeedVerdict verdict) {
    switch (verdict) {
        case SpeedVerdict::faster: return "faster";
        case SpeedVerdict::slower: return "slower";
        case SpeedVerdict::same: return "same";
        case SpeedVerdict::cannot_tell: return "cannot tell";
    }
    return "";
}

Comparison compare(std::span<const double> baseline, std::span<const double> candidate,
                   const ComparisonOptions& options) {
    Comparison found;
    found.baseline_count = baseline.size();
    found.candidate_count = candidate.size();
    found.paired = options.paired && baseline.size() == candidate.size();
    found.min_effect = options.min_effect;
    if (!baseline.empty() && !candidate.empty()) {
        found.baseline_noise = noise_of(baseline);
        found.candidate_noise = noise_of(candidate);
        found.paired ? compare_paired(baseline, candidate, options.two_processes, found)
                     : compare_unpaired(baseline, candidate, found);
    }
    found.verdict = verdict_of(found);
    found.reason = reason_of(found);
    return found;
}

Comparison compare_runs(std::span<const SampledRun> baseline, std::span<const SampledRun> candidate,
                        double min_effect) {
    std::vector<double> before, after;
    for (const SampledRun& run : baseline) before.insert(before.end(), run.samples.begin(), run.samples.end());
    for (const SampledRun& run : candidate) after.insert(after.end(), run.samples.begin(), run.samples.end());
    Comparison found = compare(before, after, {.min_effect = min_effect});
    Runs base = runs_of(baseline), next = runs_of(candidate);
    found.min_runs = std::min(base.logs.size(), next.logs.size());
    // With several runs, the differences between their medians contain the uncertainty within them.
    bool single = found.min_runs == 1;
    if (double stalled = longest_stall(baseline, candidate); single && stalled > 0) return undecided(found, stalled);
    if (found.min_runs == 0 || (single && !found.strict_interval)) return found;
    auto bases = static_cast<double>(base.logs.size()), nexts = static_cast<double>(next.logs.size());
    std::size_t measured = base.logs.size() + next.logs.size() - 2, degrees = single ? kAssumedDegrees : measured;
    double variance = measured > 0 ? (base.squares + next.squares) / static_cast<double>(measured) : 0;
    double assumed = single ? (base.assumed + next.assumed) / (bases + nexts) : kLeastRunNoise * kLeastRunNoise;
    found.run_noise = std::sqrt(std::max(variance, assumed));
    double centre = base.mean - next.mean, error = found.run_noise * std::sqrt(1 / bases + 1 / nexts);
    found.speedup = std::exp(centre);
    found.interval = widened(single ? found.interval : std::nullopt, centre, error, kReported, degrees);
    found.strict_interval = widened(single ? found.strict_interval : std::nullopt, centre, error, kStrict, degrees);
    found.verdict = verdict_of(found);
    found.reason = reason_of(found);
    return found;
}

}  // namespace gpuprof::measure
