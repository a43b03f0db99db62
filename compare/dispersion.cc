#include "compare/dispersion.h"

#include <cmath>

#include "compare/change.h"
#include "measure/statistics.h"

namespace gpuprof::compare {
namespace {

constexpr double kOutlierDeviations = 3;           // deviations
constexpr std::size_t kMinSamplesForClipping = 8;  // samples
constexpr double kMinSamplesForDependence = 12;    // samples of both sides; fewer reveal nothing about their dependence
constexpr double kMaxLag1 = 0.95;
constexpr double kCaution = 0.75, kCautionInOneProcess = 1.5;  // standard errors of the autocorrelation
constexpr double kVisible = 1, kSignificant = 2;               // standard errors of the slope
constexpr double kCurvatureFactor = 1.5;                       // a drift need not be linear
constexpr double kNothing = 1e-3;  // relative to the mean; smaller samples, such as 0, count as this in logarithms

}  // namespace

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
    double doubted = one_process ? kCautionInOneProcess : caution == Caution::standard ? kCaution : 0;
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

}  // namespace gpuprof::compare
