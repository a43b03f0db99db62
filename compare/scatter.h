// How much the samples of two sides scatter, in logarithms, and how many independent samples they are worth.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace gpuprof::compare {

// One side. What lies far out is taken to three deviations (by the median absolute deviation), so that a slow step neither moves
// nor widens much.
struct Scatter {
    std::vector<double> values;  // in the order of time
    double mean = 0, squares = 0, range = 0;

    Scatter(std::span<const double> samples, bool clipped);
    double count() const { return static_cast<double>(values.size()); }
    // Autocorrelation at lag 1, less what few samples bias it by (Kendall, "Note on bias in the estimation of autocorrelation",
    // 1954).
    double lag1() const;
};

// How much the estimated dependence on neighbours is to be doubted: an unnoticed one makes intervals too narrow.
enum class Caution { none, usual };

// Under "nothing changed" the samples of both sides depend on their neighbours in the same way, so one autocorrelation is estimated
// for both. `one_process`: both are parts of one run, which share every slow change, so more caution is needed.
struct Scatters {
    Scatter base, next;
    bool one_process;
    double base_effective, next_effective;

    Scatters(std::span<const double> before, std::span<const double> after, bool within_one_process,
             bool clipped = true, Caution caution = Caution::usual);
    double fewer() const { return std::min(base_effective, next_effective); }
    double widest() const { return std::max(base.range, next.range); }
    // Half of Student's interval of the difference of the means, as if both scattered alike; for as many independent samples as
    // given. Absent when they are too few for any.
    std::optional<double> half(double level, double before, double after) const;
    // By how much a drift that both sides share lets two parts of one run differ, at most; 0 when they do not drift visibly.
    double drift() const;
};

}  // namespace gpuprof::compare
