// See the header for the method and its sources.
#include "measure/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace gpuprof::measure {
namespace {

constexpr double kLevel = 0.95;

std::size_t rank_of(double percent, std::size_t count) {
    auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(count)));
    return std::clamp<std::size_t>(rank, 1, count);
}

// P(X <= k) of binomial(n, 1/2), summed from the small end, with logarithms, because 2^-n underflows beyond n = 1074.
double binomial_half(std::size_t n, std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i <= k; ++i) {
        double log_choose = std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(i) + 1) -
                            std::lgamma(static_cast<double>(n - i) + 1);
        sum += std::exp(log_choose - static_cast<double>(n) * std::log(2.0));
    }
    return sum;
}

// Quantile of the normal distribution by bisection of erfc; z for both sides of `level`.
double two_sided_z(double level) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i) {
        double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) > 1 - level ? low : high) = middle;
    }
    return low;
}

// Up to this size the binomial is summed; beyond it the normal distribution replaces it (they differ by less than one
// rank).
constexpr std::size_t kSummed = 400;

// Number of samples outside the interval at either end, by the binomial distribution. Absent: even the outermost pair
// covers too little.
std::optional<std::size_t> outside_of(std::size_t n, double level, double& achieved) {
    double tail = 0;
    std::optional<std::size_t> best;
    for (std::size_t k = 0; 2 * k + 1 < n; ++k) {  // the interval [x(k+1), x(n-k)]
        tail = binomial_half(n, k);
        if (1 - 2 * tail < level) break;
        best = k;
        achieved = 1 - 2 * tail;
    }
    return best;
}

// The same with the normal distribution, with ranks further apart for samples of lower effective number.
std::optional<std::size_t> outside_of(std::size_t n, double level, double effective, double& achieved) {
    double count = static_cast<double>(n);
    double half_width = two_sided_z(level) / 2 * count / std::sqrt(effective);
    double outside = std::floor((count - 1) / 2 - half_width);
    if (outside < 0) return std::nullopt;
    achieved = level;
    return static_cast<std::size_t>(outside);
}

struct Moments {
    double mean = 0, std = 0, skewness = 0, kurtosis = 0;
};

Moments moments_of(std::span<const double> samples) {
    Moments moments;
    auto count = static_cast<double>(samples.size());
    moments.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
    double second = 0, third = 0, fourth = 0;
    for (double sample : samples) {
        double off = sample - moments.mean;
        second += off * off;
        third += off * off * off;
        fourth += off * off * off * off;
    }
    second /= count;
    third /= count;
    fourth /= count;
    moments.std = std::sqrt(second);
    if (second > 0) {
        moments.skewness = third / (second * moments.std);
        moments.kurtosis = fourth / (second * second);
    }
    return moments;
}

// The split of sorted samples into two groups with the least variance within them (Otsu 1979): the share of variance
// that it explains. Near 1: two tight groups.
double split_strength(std::span<const double> sorted) {
    auto count = static_cast<double>(sorted.size());
    double total = std::accumulate(sorted.begin(), sorted.end(), 0.0), left = 0, best = 0, variance = 0;
    double mean = total / count;
    for (double value : sorted) variance += (value - mean) * (value - mean);
    if (variance <= 0) return 0;
    // Groups smaller than a tenth are outliers, not a mode.
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        left += sorted[i];
        double n = static_cast<double>(i + 1);
        if (n < count / 10 || n > count - count / 10) continue;
        double apart = left / n - (total - left) / (count - n);
        best = std::max(best, n * (count - n) / count * apart * apart);
    }
    return best / variance;
}

bool looks_bimodal(std::span<const double> sorted, const Moments& moments) {
    constexpr std::size_t kMinSamples = 20;
    // Splitting a normal distribution explains 2/pi = 0.64 of the variance, splitting a uniform one 0.75.
    constexpr double kSplit = 0.8, kUniform = 5.0 / 9.0;
    if (sorted.size() < kMinSamples || moments.kurtosis <= 0) return false;
    double coefficient = (moments.skewness * moments.skewness + 1) / moments.kurtosis;
    return coefficient > kUniform && split_strength(sorted) > kSplit;
}

// Ranks from 1; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> samples) {
    std::vector<std::size_t> order(samples.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
    std::vector<double> ranks(samples.size());
    for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
        for (end = i + 1; end < order.size() && samples[order[end]] == samples[order[i]];) ++end;
        for (std::size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<double>(i + end + 1) / 2;
    }
    return ranks;
}

std::optional<double> drift_of(std::span<const double> samples) {
    constexpr std::size_t kMinSamples = 20;
    constexpr double kOutlierZ = 3.29;  // z for 1 in 1,000, two-sided
    if (samples.size() < kMinSamples) return std::nullopt;
    std::vector<double> ranks = ranks_of(samples);
    auto count = static_cast<double>(samples.size());
    double middle = (count + 1) / 2, with = 0, own = 0, order = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        double time = static_cast<double>(i + 1) - middle, rank = ranks[i] - middle;
        with += time * rank;
        own += rank * rank;
        order += time * time;
    }
    if (own <= 0) return std::nullopt;
    double correlation = with / std::sqrt(own * order);
    if (std::abs(correlation) * std::sqrt(count - 1) < kOutlierZ) return std::nullopt;
    return correlation;
}

// +1 above the median, -1 below, 0 at it: the quantity that determines the interval of a median, robust against
// outliers.
std::vector<double> signs_of(std::span<const double> samples) {
    std::vector<double> sorted(samples.begin(), samples.end());
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
    double median = sorted[sorted.size() / 2];
    std::vector<double> signs(samples.size());
    std::transform(samples.begin(), samples.end(), signs.begin(), [median](double x) {
        if (x > median) return 1.0;
        return x < median ? -1.0 : 0.0;
    });
    double mean = std::accumulate(signs.begin(), signs.end(), 0.0) / static_cast<double>(signs.size());
    for (double& sign : signs) sign -= mean;
    return signs;
}

double correlation_at(std::span<const double> centred, std::size_t lag, double variance) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < centred.size(); ++i) sum += centred[i] * centred[i + lag];
    return sum / variance;
}

constexpr std::size_t kSeries = 2000;

// Means of `size` consecutive values; an incomplete rest is dropped.
std::vector<double> means_of_groups(std::span<const double> values, std::size_t size) {
    std::vector<double> means;
    for (std::size_t i = 0; i + size <= values.size(); i += size)
        means.push_back(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(i),
                                        values.begin() + static_cast<std::ptrdiff_t>(i + size), 0.0) /
                        static_cast<double>(size));
    return means;
}

struct Dependence {
    double lag1 = 0, effective = 0;
};

Dependence dependence_of(std::span<const double> samples) {
    auto count = static_cast<double>(samples.size());
    Dependence none{0, count};
    if (samples.size() < 8) return none;
    std::vector<double> signs = signs_of(samples);
    double variance = std::inner_product(signs.begin(), signs.end(), signs.begin(), 0.0);
    if (variance <= 0) return none;
    none.lag1 = correlation_at(signs, 1, variance);
    // Significant only beyond chance: correlations of independent samples have a standard deviation of 1/sqrt(n). One
    // in 100, one-sided.
    if (none.lag1 * std::sqrt(count) < 2.33) return none;
    // Averages neighbours first, so that long series cost no more than short ones; the variance of a mean is preserved.
    std::vector<double> groups = means_of_groups(signs, samples.size() / kSeries + 1);
    auto size = static_cast<double>(samples.size() / kSeries + 1), of_groups = static_cast<double>(groups.size());
    double group_variance = std::inner_product(groups.begin(), groups.end(), groups.begin(), 0.0);
    if (group_variance <= 0) return none;
    double tau = 1 + 2 * correlation_at(groups, 1, group_variance);
    for (std::size_t lag = 2; lag + 1 < groups.size() / 2; lag += 2) {
        double pair = correlation_at(groups, lag, group_variance) + correlation_at(groups, lag + 1, group_variance);
        if (pair <= 0) break;
        tau += 2 * pair;
    }
    tau *= size * (group_variance / of_groups) / (variance / count);
    return {none.lag1, std::clamp(count / tau, 1.0, count)};
}

}  // namespace

double percentile_of(std::span<const double> sorted, double percent) {
    return sorted[rank_of(percent, sorted.size()) - 1];
}

double effective_count_of(std::span<const double> samples) { return dependence_of(samples).effective; }

// Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4; inverted by bisection.
double student_t(double level, std::size_t degrees) {
    auto within = [degrees](double t) {
        double angle = std::atan(t / std::sqrt(static_cast<double>(degrees))), cosine = std::cos(angle);
        double sum = 0, term = degrees % 2 == 0 ? 1 : cosine;
        for (std::size_t i = degrees % 2 == 0 ? 2 : 3; i <= degrees; i += 2) {
            sum += term;
            term *= cosine * cosine * static_cast<double>(i - 1) / static_cast<double>(i);
        }
        double all = std::sin(angle) * sum;
        return degrees % 2 == 0 ? all : 2 / std::numbers::pi * (angle + all);
    };
    double low = 0, high = 1e6;
    for (int i = 0; i < 64; ++i) {
        double middle = (low + high) / 2;
        (within(middle) < level ? low : high) = middle;
    }
    return high;
}

std::size_t min_count_for(double level) {
    std::size_t n = 2;
    while (1 - 2 * std::pow(0.5, static_cast<double>(n)) < level) ++n;
    return n;
}

std::optional<Interval> median_interval_of(std::span<const double> sorted, double level, double effective) {
    std::size_t n = sorted.size();
    bool independent = effective >= static_cast<double>(n);
    Interval interval;
    if (effective < static_cast<double>(min_count_for(level))) return std::nullopt;
    auto outside = independent && n <= kSummed ? outside_of(n, level, interval.level)
                                               : outside_of(n, level, effective, interval.level);
    if (!outside) return std::nullopt;
    interval.low = sorted[*outside];
    interval.high = sorted[n - 1 - *outside];
    return interval;
}

Statistics statistics_of(std::span<const double> samples) {
    Statistics result;
    result.count = samples.size();
    if (samples.empty()) {
        result.no_interval_because = "no samples";
        return result;
    }
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    Moments moments = moments_of(sorted);
    result.mean = moments.mean;
    result.std = moments.std;
    result.noise = moments.mean != 0 ? moments.std / moments.mean : 0;
    result.min = sorted.front();
    result.max = sorted.back();
    result.p5 = percentile_of(sorted, 5);
    result.p25 = percentile_of(sorted, 25);
    result.median = percentile_of(sorted, 50);
    result.p75 = percentile_of(sorted, 75);
    result.p95 = percentile_of(sorted, 95);
    double fence = 1.5 * (result.p75 - result.p25);
    for (double sample : sorted) {
        result.outliers_low += sample < result.p25 - fence;
        result.outliers_high += sample > result.p75 + fence;
    }
    result.bimodal = looks_bimodal(sorted, moments);
    result.drift = drift_of(samples);
    Dependence dependence = dependence_of(samples);
    result.lag1 = dependence.lag1;
    result.effective_count = dependence.effective;
    result.median_interval = median_interval_of(sorted, kLevel, dependence.effective);
    if (!result.median_interval)
        result.no_interval_because =
            fmt::format("{} samples, equivalent to {:.0f} independent ones; a 95 % interval needs {}", samples.size(),
                        dependence.effective, min_count_for(kLevel));
    else if (result.median > 0)
        result.precision = (result.median_interval->high - result.median_interval->low) / 2 / result.median;
    return result;
}

}  // namespace gpuprof::measure
