// Did it help? Two sets of samples become a speedup with an interval and one word. speedup = baseline / candidate, of medians:
// 2 means half the time.
//
// Unpaired: the interval is a bootstrap of the ratio of medians. Resampling n values and taking their median is drawing the
// rank n*Beta(m, n-m+1) of the sorted samples (Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", 1982, 10.2),
// so one resample costs two numbers, whatever n. The seed is fixed. Samples that depend on their neighbours count as the
// number of independent ones they are worth (statistics.h).
// Paired (taken in turn): the median of the pairs' ratios, with the interval of a median; drift that meets both cancels.
//
// The speedup is reported with 95 %, the verdict asks for 99 %: at equal speed one of the two wrong words is then said in at most
// one of a hundred comparisons. What this cannot see is a difference between two processes that has nothing to do with the
// code; several processes a side do.
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
    std::optional<Interval> strict_interval;  // 99 %, what the verdict rests on
    double baseline_noise = 0, candidate_noise = 0;
    double min_effect = 0;
    SpeedVerdict verdict = SpeedVerdict::cannot_tell;
    std::string reason;  // one sentence: why this verdict
};

struct ComparisonOptions {
    bool paired = false;
    double min_effect = 0.01;  // changes below this share count as none
};

// Paired samples of different counts are compared as unpaired.
Comparison compare(std::span<const double> baseline, std::span<const double> candidate,
                   const ComparisonOptions& options = {});

}  // namespace gpuprof::measure
