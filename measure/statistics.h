// What a vector of samples says: location with a confidence interval, spread, outliers, modes, drift. Pure functions over
// times in ns; nothing is dropped: outliers are counted, not removed. Percentiles are nearest rank (GLOSSARY.md), so every
// one of them is a sample, the median too.
//
// The interval of the median is made of order statistics: for independent samples of any distribution the number below the
// true median is binomial(n, 1/2), so [x(l), x(u)] covers it with a probability that can be summed (David and Nagaraja,
// "Order Statistics", 3rd ed., 7.1). Samples that depend on their neighbours count for fewer than they are: the ranks are
// then taken sqrt(tau) further apart, tau being the integrated autocorrelation time of "above the median" (Geyer, "Practical
// Markov chain Monte Carlo", 1992: sums of adjacent pairs until they turn negative).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::measure {

struct Interval {
    double low = 0, high = 0;
    double level = 0;  // achieved, for independent samples at least what was asked for
};

struct Statistics {
    std::size_t count = 0;
    // Of all samples; 0 only when count is 0.
    double median = 0, mean = 0, std = 0, min = 0, max = 0, p5 = 0, p25 = 0, p75 = 0, p95 = 0;
    std::optional<Interval> median_interval;  // 95 %
    std::string no_interval_because;          // when it is absent
    // Half the interval's width over the median: what the stopping rule looks at.
    std::optional<double> precision;
    double noise = 0;  // std / mean; 0 when the mean is 0
    // Beyond 1.5 interquartile ranges from the quartiles (Tukey, "Exploratory Data Analysis", 1977).
    std::size_t outliers_low = 0, outliers_high = 0;
    // Samples gather around two values: Sarle's coefficient above that of the uniform distribution (5/9) and a gap between the
    // two groups. A hint.
    bool bimodal = false;
    // Spearman's rank correlation of samples with their order, when it is beyond chance (1 in 1,000); absent otherwise.
    std::optional<double> drift;
    double lag1 = 0;             // autocorrelation at lag 1 of "above the median"
    double effective_count = 0;  // independent samples that these are worth
};

Statistics statistics_of(std::span<const double> samples);

// Nearest rank of sorted values, 0 < percent <= 100.
double percentile_of(std::span<const double> sorted, double percent);

// The narrowest symmetric pair of order statistics that covers the median with at least `level`, for samples worth `effective`
// independent ones (their number, if they are). Absent for too few.
std::optional<Interval> median_interval_of(std::span<const double> sorted, double level, double effective);

// How many independent samples these are worth, at most their number; their number when dependence is not beyond chance.
double effective_count_of(std::span<const double> samples);

// The fewest independent samples that have an interval of this level: 6 for 95 %.
std::size_t fewest_for(double level);

}  // namespace gpuprof::measure
