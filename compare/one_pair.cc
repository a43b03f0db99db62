// What a single recording per side cannot show. Two runs of one program differ by more than their steps tell: another
// memory layout, temperature or load. Nothing in one recording says by how much, so a verdict on one pair has low
// confidence, and its change must exceed what such runs often differ by. Within a recording two slow variations can be
// seen, and a difference that they explain gets no verdict either: a drift, and clocks that switch between two states.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "compare/change.h"

namespace gpuprof::compare {
namespace {

// The difference of two runs that is exceeded by chance in 2.5 % of the pairs if runs differ by 1.5 %, as those of machines
// shared with nobody often do: 2.25 standard deviations of sqrt(2) x 1.5 %.
constexpr double kRunToRunPct = 4.9;
constexpr double kOfStrict = 0.84;         // 97 % of a normal distribution relative to 99 %
constexpr double kBeyondStates = 2.5;      // standard deviations
constexpr std::size_t kMinSteps = 8;       // fewer show no drift and no states
constexpr double kClearSlope = 3;          // standard errors
constexpr double kNonlinear = 1.5;         // a drift need not be linear
constexpr double kTwoStates = 0.8;         // share of the variance between the states; a uniform distribution has 0.75
constexpr double kMinShareOfState = 0.05;  // of the steps
constexpr std::size_t kMinStepsOfState = 3;
constexpr double kPersistent = 0.5;  // switches relative to those of independent steps

double mean_of_logs(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_of(std::span<const double> values) {
    double mean = mean_of_logs(values), sum = 0;
    for (double value : values) sum += (value - mean) * (value - mean);
    return sum;
}

std::vector<double> logs_of_positive(std::span<const double> samples) {
    std::vector<double> logs;
    for (double sample : samples)
        if (sample > 0) logs.push_back(std::log(sample));
    return logs;
}

// By how much a median may be off because of a linear drift from the first to the last sample; 0 without a clear one.
double drift_of(std::span<const double> logs) {
    if (logs.size() < kMinSteps) return 0;
    auto count = static_cast<double>(logs.size());
    double mean = mean_of_logs(logs), product = 0, square = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        double at = static_cast<double>(i) - (count - 1) / 2;
        product += at * (logs[i] - mean);
        square += at * at;
    }
    double slope = product / square, left = std::max(0.0, squares_of(logs) - slope * product);
    double error = std::sqrt(left / (count - 2) / square);
    return std::abs(slope) > kClearSlope * error ? kNonlinear * std::abs(slope) * count / 2 : 0;
}

// The distance between two states that samples switch between and stay in; 0 if there are none.
double states_of_logs(std::span<const double> logs) {
    if (logs.size() < kMinSteps) return 0;
    std::vector<double> sorted(logs.begin(), logs.end());
    std::sort(sorted.begin(), sorted.end());
    auto count = static_cast<double>(sorted.size());
    double all = squares_of(sorted), best = 0, gap = 0, border = 0;
    std::size_t least = std::max(kMinStepsOfState, static_cast<std::size_t>(kMinShareOfState * count));
    double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0), below = 0;
    for (std::size_t low = 1; low + least <= sorted.size(); ++low) {
        below += sorted[low - 1];
        if (low < least) continue;
        double apart = (sum - below) / (count - static_cast<double>(low)) - below / static_cast<double>(low);
        double between = static_cast<double>(low) * (count - static_cast<double>(low)) / count * apart * apart;
        if (between > best) best = between, gap = apart, border = (sorted[low - 1] + sorted[low]) / 2;
    }
    if (all <= 0 || best < kTwoStates * all) return 0;
    std::size_t switches = 0, above = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        above += logs[i] > border;
        if (i > 0) switches += (logs[i] > border) != (logs[i - 1] > border);
    }
    double share = static_cast<double>(above) / count;
    double by_chance = 2 * share * (1 - share) * (count - 1);
    return static_cast<double>(switches) < kPersistent * by_chance ? gap : 0;
}

double in_percent(double logarithm) { return 100 * std::expm1(logarithm); }

// From the value to the end of its 99 % interval that is nearer to no change, in logarithms.
double half_width_of(const Change& change) {
    if (!change.strict) return 0;
    double near = *change.pct > 0 ? change.strict->low : change.strict->high;
    return near <= -100 ? 0 : std::abs(std::log1p(*change.pct / 100) - std::log1p(near / 100));
}

double states_of(std::span<const double> base, std::span<const double> next) {
    return std::max(states_of_logs(logs_of_positive(base)), states_of_logs(logs_of_positive(next)));
}

Change explained_by_states(Change change, double states) {
    change.word = Word::cannot_tell;
    change.few = true;
    change.because += fmt::format(
        "; samples stay in one of two states {:.1f} % apart, as with clocks that are not locked", in_percent(states));
    return change;
}

}  // namespace

Change without_states(Change change, std::span<const double> base, std::span<const double> next) {
    if (!change.of_runs || !decided(change) || *change.pct <= -100) return change;
    double states = states_of(base, next);
    // A run may be in either state: half of the distance is the deviation of one.
    double runs = std::sqrt(1 / static_cast<double>(change.base_samples) + 1 / static_cast<double>(change.new_samples));
    bool explained = std::abs(std::log1p(*change.pct / 100)) < states * std::min(1.0, kBeyondStates / 2 * runs);
    return explained ? explained_by_states(std::move(change), states) : change;
}

Change change_of_one_pair(Change change, std::span<const double> base, std::span<const double> next, bool same_median) {
    bool equal = change.pct == 0 && change.word == Word::same && change.interval && change.interval->low == 0 &&
                 change.interval->high == 0;
    if (!change.pct || equal) return change;
    change.few = true;
    if (!decided(change) || *change.pct <= -100) return change;
    double found = std::abs(std::log1p(*change.pct / 100));
    std::vector<double> before = logs_of_positive(base), after = logs_of_positive(next);
    double drift = drift_of(before) + drift_of(after), states = states_of(base, next);
    double runs = same_median ? 0 : std::hypot(std::log1p(kRunToRunPct / 100), kOfStrict * half_width_of(change));
    if (found >= std::max({drift, states, runs})) return change;
    if (found < states) return explained_by_states(std::move(change), states);
    change.word = Word::cannot_tell;
    if (found < drift)
        change.because += fmt::format("; samples drift, which can explain a difference of {:.1f} %", in_percent(drift));
    else
        change.because +=
            fmt::format("; with one recording per side, run-to-run variation can explain {:.1f} %", in_percent(runs));
    change.because += "; repeat the recordings";
    return change;
}

}  // namespace gpuprof::compare
