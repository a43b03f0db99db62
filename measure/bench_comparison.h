// Compares two sets of samples: a speedup with an interval, and a verdict. speedup = baseline / candidate, of medians:
// 2 means half the time.
//
// Unpaired: the interval comes from a bootstrap of the ratio of medians. Resampling n values and taking their median is
// equivalent to drawing the rank n*Beta(m, n-m+1) of the sorted samples (Efron, "The Jackknife, the Bootstrap and Other
// Resampling Plans", 1982, 10.2), so one resample costs two random numbers, whatever n. The seed is fixed.
// Autocorrelated samples count as their effective number of independent samples (statistics.h).
// Paired (taken in turn): the median of the pairs' ratios, with the interval of a median; drift common to both sides
// cancels.
//
// The speedup is reported with a 95 % interval, but the verdict uses a 99 % interval: at equal speed, at most one
// comparison in a hundred is wrongly called faster or slower. The method cannot detect differences between two
// processes that are unrelated to the code; run several processes per side for that.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/statistics.h"

namespace gpuprof::measure {

enum class SpeedVerdict { faster, slower, same, cannot_tell };

// "faster", "slower", "same", "cannot tell".
std::string_view name_of(SpeedVerdict verdict);

struct Comparison {
    bool paired = false;
    std::size_t baseline_count = 0, candidate_count = 0;
    std::optional<double> speedup;            // absent without samples on a side, or with a median of 0
    std::optional<Interval> interval;         // 95 %
    std::optional<Interval> strict_interval;  // 99 %, the basis of the verdict
    double baseline_noise = 0, candidate_noise = 0;
    double min_effect = 0;
    SpeedVerdict verdict = SpeedVerdict::cannot_tell;
    std::string reason;  // the reason for the verdict, one sentence
};

struct ComparisonOptions {
    bool paired = false;
    double min_effect = 0.01;  // smaller changes count as the same
};

// Paired samples of different counts are compared as unpaired.
Comparison compare(std::span<const double> baseline, std::span<const double> candidate,
                   const ComparisonOptions& options = {});

}  // namespace gpuprof::measure
