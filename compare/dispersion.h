// The scatter of the samples of two sides, in logarithms, and their effective number of independent samples.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::compare {

double sample_median(std::span<const double> samples);

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

}  // namespace gpuprof::compare
