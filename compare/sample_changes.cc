// Changes from samples within one recording per side. The header has the rules.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "compare/change.h"
#include "measure/random.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

// The scatter of the samples of two sides, in logarithms, and their effective number of independent samples.

// One side. Outliers are clipped to three deviations (by the median absolute deviation), so that a slow step neither
// shifts nor widens the result much.
struct Dispersion {
    std::vector<double> values;  // in order of time
    double mean = 0, squares = 0, range = 0;

    Dispersion(std::span<const double> samples, bool clipped);
    double count() const { return static_cast<double>(values.size()); }
    // Autocorrelation at lag 1, corrected for its bias in small samples (Kendall, "Note on bias in the estimation of
    // autocorrelation", 1954).
    double lag1() const;
};

// Caution for the estimated dependence on neighbours: an undetected one makes intervals too narrow.
enum class Caution { none, standard };

// Under the null hypothesis the samples of both sides have the same autocorrelation, so one is estimated for both.
// `one_process`: both are parts of one run and share every slow change, so more caution is needed.
struct DispersionPair {
    Dispersion base, next;
    bool one_process;
    double base_effective, next_effective;

    DispersionPair(std::span<const double> before, std::span<const double> after, bool within_one_process,
                   bool clipped = true, Caution caution = Caution::standard);
    double min_effective() const { return std::min(base_effective, next_effective); }
    double max_range() const { return std::max(base.range, next.range); }
    // Half of Student's interval of the difference of the means, assuming equal scatter; for the given effective
    // numbers of samples. Absent if they are too few.
    std::optional<double> interval_half_width(double level, double before, double after) const;
    // The largest difference that a common drift can cause between two parts of one run; 0 without visible drift.
    double drift() const;
};

constexpr double kOutlierDeviations = 3;           // deviations
constexpr std::size_t kMinSamplesForClipping = 8;  // samples
constexpr double kMinSamplesForDependence = 12;    // samples of both sides; fewer reveal nothing about their dependence
constexpr double kMaxLag1 = 0.95;
constexpr double kCaution = 0.75, kCautionInOneProcess = 1.5;  // standard errors of the autocorrelation
constexpr double kVisible = 1, kSignificant = 2;               // standard errors of the slope
constexpr double kCurvatureFactor = 1.5;                       // a drift need not be linear
constexpr double kNothing = 1e-3;  // relative to the mean; smaller samples, such as 0, count as this in logarithms

double sample_median(std::span<const double> samples) { return measure::statistics_of(samples).median; }

Dispersion::Dispersion(std::span<const double> samples, bool clipped) {
    double least_counted = kNothing * measure::statistics_of(samples).mean;
    for (double sample : samples) values.push_back(std::log(std::max(sample, least_counted)));
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    range = *most - *least;
    double middle = sample_median(values);
    std::vector<double> away;
    for (double value : values) away.push_back(std::abs(value - middle));
    double reach = kOutlierDeviations * 1.4826 * sample_median(away);
    if (clipped && values.size() >= kMinSamplesForClipping)
        for (double& value : values) value = std::clamp(value, middle - reach, middle + reach);
    for (double value : values) mean += value / count();
    for (double value : values) squares += (value - mean) * (value - mean);
}

double Dispersion::lag1() const {
    double sum = 0;
    for (std::size_t i = 1; i < values.size(); ++i) sum += (values[i] - mean) * (values[i - 1] - mean);
    double found = squares > 0 ? sum / squares : 0;
    return found + (1 + 4 * found) / count();
}

DispersionPair::DispersionPair(std::span<const double> before, std::span<const double> after, bool within_one_process,
                               bool clipped, Caution caution)
    : base(before, clipped), next(after, clipped), one_process(within_one_process) {
    double all = base.count() + next.count();
    double lag1 = (base.count() * base.lag1() + next.count() * next.lag1()) / all;
    double doubted = caution == Caution::standard ? kCaution : 0;
    if (one_process) doubted = kCautionInOneProcess;
    lag1 = std::clamp(lag1 + doubted / std::sqrt(all), 0.0, kMaxLag1);
    double worth = all >= kMinSamplesForDependence ? (1 - lag1) / (1 + lag1) : 1;
    base_effective = std::min(base.count() * worth, measure::effective_count_of(before));
    next_effective = std::min(next.count() * worth, measure::effective_count_of(after));
}

std::optional<double> DispersionPair::interval_half_width(double level, double before, double after) const {
    double degrees = std::floor(before + after - 2);
    if (degrees < 1) return std::nullopt;
    double variance = (base.squares + next.squares) / (base.count() + next.count() - 2);
    return student_t(level, static_cast<std::size_t>(degrees)) * std::sqrt(variance * (1 / before + 1 / after));
}

double DispersionPair::drift() const {
    double product = 0, square = 0;
    for (const Dispersion* side : {&base, &next})
        for (std::size_t i = 0; i < side->values.size(); ++i) {
            double at = static_cast<double>(i) - (side->count() - 1) / 2;
            product += at * (side->values[i] - side->mean);
            square += at * at;
        }
    double slope = product / square;
    double left = base.squares + next.squares - slope * product;
    double error = std::sqrt(std::max(0.0, left) / (base.count() + next.count() - 3) / square);
    if (std::abs(slope) < kVisible * error) return 0;
    return (kCurvatureFactor * std::abs(slope) + kSignificant * error) * (base.count() + next.count()) / 2;
}

constexpr double kStrictOfFew = 0.995;
constexpr double kMinEffectiveSamples = 2;  // samples
constexpr int kResamples = 2000;
constexpr std::uint64_t kSeed = 20261122;

using Samples = std::span<const double>;

double mean_of(Samples samples) { return measure::statistics_of(samples).mean; }

// Converts differences of logarithms to percent.
measure::Interval around(double difference, double interval_half_width, double level) {
    return {100 * std::expm1(difference - interval_half_width), 100 * std::expm1(difference + interval_half_width),
            level};
}

// Whether a difference lies far beyond the variation within each side.
bool far_beyond(double difference, const DispersionPair& both) {
    // a single sample may be an outlier
    if (std::min(both.base.count(), both.next.count()) < kMinEffectiveSamples) return false;
    std::optional<double> interval_half_width =
        both.interval_half_width(kStrictOfFew, both.base.count(), both.next.count());
    return interval_half_width && std::abs(difference) > *interval_half_width &&
           std::abs(difference) >= kRangesOfFew * both.max_range();
}

// Whether all samples of one side are several times those of the other, where chance seldom orders so many. Values near 0, like idle
// time that is gone, vary by as much as themselves, so that no interval of their spread says it.
bool several_times(const DispersionPair& both) {
    constexpr double kFactor = 2, kSeldom = 0.04;
    double orders = 1;  // in which the samples of both sides can lie
    for (double i = 1; i <= both.next.count(); ++i) orders *= (both.base.count() + i) / i;
    auto [low, high] = std::minmax_element(both.base.values.begin(), both.base.values.end());
    auto [least, most] = std::minmax_element(both.next.values.begin(), both.next.values.end());
    double apart = std::max(*least - *high, *low - *most);  // of logarithms
    return 2 / orders <= kSeldom && apart >= std::log(kFactor);
}

// Withdraws the verdict on a difference that the drift of one process explains.
bool taken_back_by_drift(Change& change, const DispersionPair& both, std::string_view what) {
    if (!both.one_process || (change.word != Word::higher && change.word != Word::lower)) return false;
    double drift = both.drift();
    if (std::abs(std::log(*change.next / *change.base)) >= drift) return false;
    change.word = Word::cannot_tell;
    change.because =
        fmt::format("both sides come from one process whose {} drift; drift alone can explain a difference of {:.1f} %",
                    what, 100 * std::expm1(drift));
    return true;
}

// Handles too few samples for an interval of a median, or too few independent ones. `change` contains values and
// percentage; `both` is without extra caution. A verdict has low confidence.
Change change_of_few(Change change, const DispersionPair& both, std::string_view what) {
    change.few = true;
    std::size_t needed = measure::min_count_for(kStrict);
    std::string few = fmt::format("{} and {} {}", change.base_samples, change.new_samples, what);
    double difference = std::log(*change.next / *change.base);
    std::size_t fewer = std::min(change.base_samples, change.new_samples);
    double before = both.base_effective, after = both.next_effective;
    std::optional<double> reported = both.interval_half_width(kReported, before, after),
                          strict = both.interval_half_width(kStrict, before, after);
    if (reported) change.interval = around(difference, *reported, kReported);
    if (strict) change.strict = around(difference, *strict, kStrict);
    bool large = std::abs(*change.pct) >= kMinChangeOfFew;
    bool beyond = fewer >= needed && strict && std::abs(difference) > *strict;
    if (large && (beyond || far_beyond(difference, both) || several_times(both)))
        change.word = difference > 0 ? Word::higher : Word::lower;
    else if (word_of(change) == Word::same)
        change.word = Word::same;
    if (taken_back_by_drift(change, both, what)) return change;
    if (change.word != Word::cannot_tell)
        change.because = because_of(change, what) + "; low confidence: few independent samples";
    else if (std::min(both.base.count(), both.next.count()) < kMinEffectiveSamples)
        change.because = fmt::format(
            "{} are too few; at least {} independent ones per side are needed, or repeated recordings", few, needed);
    else
        change.because = fmt::format(
            "{} are too few (or too autocorrelated) to confirm a change that does not far exceed their spread of "
            "{:.1f} "
            "%; record more steps, or repeat the recordings",
            few, 100 * std::expm1(both.max_range()));
    return change;
}

// Sets values, counts and noise; the percentage is that of the two given values.
Change begun(Samples base, Samples next, double before, double after) {
    Change change;
    change.base = before;
    change.next = after;
    change.base_samples = base.size();
    change.new_samples = next.size();
    change.noise_pct = 100 * std::max(measure::statistics_of(base).noise, measure::statistics_of(next).noise);
    change.pct = pct_between(change.base, change.next);
    return change;
}

Change concluded(Change change, const DispersionPair& both, std::string_view what) {
    change.word = word_of(change);
    if (!taken_back_by_drift(change, both, what)) change.because = because_of(change, what);
    return change;
}

// The common start: answers that need no interval. `location` computes the compared value of a side.
template <class Location>
std::optional<Change> without_interval(Samples base, Samples next, std::string_view what, Location&& location) {
    if (base.empty() || next.empty())
        return change_of_values(base.empty() ? std::nullopt : std::optional(location(base)),
                                next.empty() ? std::nullopt : std::optional(location(next)));
    Change change = begun(base, next, location(base), location(next));
    if (std::equal(base.begin(), base.end(), next.begin(), next.end()))
        return unchanged(change, fmt::format("all {} {} are equal", base.size(), what));
    if (*change.base > 0 && *change.next > 0) return std::nullopt;
    change.because = fmt::format("one side is 0 ({} and {} {})", base.size(), next.size(), what);
    return change;
}

// A percentile of one side, resampled as in measure/bench_comparison.h: n*Beta is drawn as the rank.
class Rank {
public:
    Rank(Samples samples, double share, double effective)
        : sorted_(samples.begin(), samples.end()), effective_(effective), share_(share) {
        std::sort(sorted_.begin(), sorted_.end());
    }
    // Interpolated between neighbouring samples, so that a small sample does not produce steps.
    double resample(measure::Random& random) const {
        double draw = random.beta(share_ * (effective_ + 1), (1 - share_) * (effective_ + 1));
        double last = static_cast<double>(sorted_.size() - 1);
        double place = std::clamp(draw * (last + 1) - 0.5, 0.0, last);
        auto below = static_cast<std::size_t>(place);
        std::size_t above = std::min(below + 1, sorted_.size() - 1);
        return sorted_[below] + (place - static_cast<double>(below)) * (sorted_[above] - sorted_[below]);
    }

private:
    std::vector<double> sorted_;
    double effective_, share_;
};

Change with_resampled(Change change, Samples base, Samples next, double share, const DispersionPair& both) {
    measure::Random random(kSeed);
    Rank before(base, share, both.base_effective), after(next, share, both.next_effective);
    std::vector<double> changes(kResamples);
    for (double& each : changes) {
        double numerator = after.resample(random);
        each = 100 * (numerator / before.resample(random) - 1);
    }
    std::sort(changes.begin(), changes.end());
    auto interval = [&](double level) {
        double outside = (1 - level) / 2 * 100;
        return measure::Interval{measure::percentile_of(changes, outside),
                                 measure::percentile_of(changes, 100 - outside), level};
    };
    change.interval = interval(kReported);
    change.strict = interval(kStrict);
    return change;
}

double p95_of(Samples samples) { return measure::statistics_of(samples).p95; }
bool too_few(const DispersionPair& both) {
    return both.min_effective() < static_cast<double>(measure::min_count_for(kStrict));
}

}  // namespace

Change change_of_samples(Samples base, Samples next, std::string_view what, bool one_process) {
    if (std::optional<Change> found = without_interval(base, next, what, sample_median)) return *found;
    Change change = begun(base, next, sample_median(base), sample_median(next));
    DispersionPair both(base, next, one_process);
    if (too_few(both)) return change_of_few(change, DispersionPair(base, next, one_process, true, Caution::none), what);
    return concluded(with_resampled(change, base, next, 0.5, both), both, what);
}

Change change_of_means(Samples base, Samples next, std::string_view what, bool one_process) {
    if (std::optional<Change> found = without_interval(base, next, what, mean_of)) return *found;
    Change change = begun(base, next, mean_of(base), mean_of(next));
    DispersionPair both(base, next, one_process);
    if (too_few(both))
        return change_of_few(change, DispersionPair(base, next, one_process, false, Caution::none), what);
    struct Side {
        double mean, error, effective;
    };
    auto side = [](Samples samples, double effective) {
        double mean = mean_of(samples), squares = 0;
        for (double sample : samples) squares += (sample - mean) * (sample - mean);
        return Side{mean, squares / static_cast<double>(samples.size() - 1) / effective, effective};
    };
    Side before = side(base, both.base_effective), after = side(next, both.next_effective);
    // Welch, "The generalization of Student's problem", 1947, with the degrees of freedom of Satterthwaite.
    double sum = before.error + after.error;
    double degrees =
        sum * sum /
        (before.error * before.error / (before.effective - 1) + after.error * after.error / (after.effective - 1));
    auto interval = [&](double level) {
        double interval_half_width =
            student_t(level, static_cast<std::size_t>(std::max(1.0, degrees))) * std::sqrt(sum);
        double difference = after.mean - before.mean;
        return measure::Interval{100 * (difference - interval_half_width) / before.mean,
                                 100 * (difference + interval_half_width) / before.mean, level};
    };
    change.interval = interval(kReported);
    change.strict = interval(kStrict);
    return concluded(std::move(change), both, what);
}

Change change_of_p95(Samples base, Samples next, std::string_view what, bool one_process) {
    if (std::optional<Change> found = without_interval(base, next, what, p95_of)) return *found;
    Change change = begun(base, next, p95_of(base), p95_of(next));
    DispersionPair both(base, next, one_process);
    // Enough that the percentile is unlikely to lie beyond all of them.
    double needed = std::ceil(std::log((1 - kStrict) / 2) / std::log(0.95));
    if (both.min_effective() < needed) {
        change.because = fmt::format(
            "{} and {} {} are too few for a 95th percentile; at least {:.0f} independent ones per side are needed, or "
            "repeated recordings",
            base.size(), next.size(), what, needed);
        return change;
    }
    return concluded(with_resampled(change, base, next, 0.95, both), both, what);
}

Change change_of_sums(Samples base, Samples next, std::string_view what, bool one_process) {
    auto sum = [](Samples samples) { return mean_of(samples) * static_cast<double>(samples.size()); };
    if (base.empty() || next.empty())
        return change_of_values(base.empty() ? std::nullopt : std::optional(sum(base)),
                                next.empty() ? std::nullopt : std::optional(sum(next)));
    if (base.size() == next.size()) {
        Change change = change_of_means(base, next, what, one_process);
        change.base = sum(base);
        change.next = sum(next);
        return change;
    }
    Change change = begun(base, next, sum(base), sum(next));
    change.because =
        fmt::format("{} {} in BASE and {} in NEW; compare their mean, not their sum", base.size(), what, next.size());
    return change;
}

}  // namespace gpuprof::compare
