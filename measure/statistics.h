// Statistics of a vector of samples: location with a confidence interval, spread, outliers, modes, drift. Pure
// functions over times in ns. Outliers are counted, not removed. Percentiles are nearest rank (GLOSSARY.md), so each
// one is a sample, including the median.
//
// The interval of the median uses order statistics: for independent samples of any distribution, the number below the
// true median is binomial(n, 1/2), so [x(l), x(u)] covers it with a probability that can be summed (David and Nagaraja,
// "Order Statistics", 3rd ed., 7.1). Autocorrelated samples count for fewer: the ranks are then taken sqrt(tau) further
// apart, where tau is the integrated autocorrelation time of "above the median" (Geyer, "Practical Markov chain Monte
// Carlo", 1992: sums of adjacent pairs until they turn negative).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::measure {

struct Interval {
    double low = 0, high = 0;
    double level = 0;  // achieved; for independent samples at least the requested one
};

struct Statistics {
    std::size_t count = 0;
    // Of all samples; 0 only if count is 0.
    double median = 0, mean = 0, std = 0, min = 0, max = 0, p5 = 0, p25 = 0, p75 = 0, p95 = 0;
    std::optional<Interval> median_interval;  // 95 %
    std::string no_interval_because;          // if it is absent
    // Half the interval's width relative to the median; the input of the stopping rule.
    std::optional<double> precision;
    double noise = 0;  // std / mean; 0 if the mean is 0
    // Beyond 1.5 interquartile ranges from the quartiles (Tukey, "Exploratory Data Analysis", 1977).
    std::size_t outliers_low = 0, outliers_high = 0;
    // Whether samples have two modes: Sarle's coefficient exceeds that of the uniform distribution (5/9), and there is
    // a gap between the two groups. A hint.
    bool bimodal = false;
    // Spearman's rank correlation of samples with their order, if it is beyond chance (1 in 1,000); otherwise absent.
    std::optional<double> drift;
    double lag1 = 0;             // autocorrelation at lag 1 of "above the median"
    double effective_count = 0;  // equivalent number of independent samples
};

Statistics statistics_of(std::span<const double> samples);

// Nearest rank of sorted values, 0 < percent <= 100.
double percentile_of(std::span<const double> sorted, double percent);

// The narrowest symmetric pair of order statistics that covers the median with at least `level`, for `effective`
// independent samples. Absent for too few.
std::optional<Interval> median_interval_of(std::span<const double> sorted, double level, double effective);

// Effective number of independent samples, at most their number; equal to it if dependence is not beyond chance.
double effective_count_of(std::span<const double> samples);

// t with P(|T| <= t) = level, for a whole number of degrees of freedom >= 1.
double student_t(double level, std::size_t degrees);

// The minimum number of independent samples for an interval of this level: 6 for 95 %.
std::size_t min_count_for(double level);

}  // namespace gpuprof::measure
