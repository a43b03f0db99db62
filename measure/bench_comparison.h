// Compares two sets of samples: a speedup with an interval, and a verdict. speedup = baseline / candidate, of medians:
// 2 means half the time.
//
// Unpaired: the interval comes from a bootstrap of the ratio of medians. Resampling n values and taking their median is
// equivalent to drawing the rank n*Beta(m, n-m+1) of the sorted samples (Efron, "The Jackknife, the Bootstrap and Other
// Resampling Plans", 1982, 10.2), so one resample costs two random numbers, whatever n. The seed is fixed.
// Autocorrelated samples count as their effective number of independent samples (statistics.h).
// Paired (taken in turn): the median of the pairs' ratios, with the interval of a median; drift common to both sides
// cancels. What two processes differ by for other reasons than the code does not, and widens the interval.
//
// Runs (each a process, at another time): the same code takes different times in different processes, and on a machine
// whose load changes, by more than the samples of one process show. The logarithms of the runs' medians are compared with
// Student's t. Their variance is measured if both sides have several runs, otherwise assumed from the noise within the
// runs: nothing else is known then.
//
// The speedup is reported with a 95 % interval, but the verdict uses a 99 % interval: at equal speed, at most one
// comparison in a hundred is wrongly called faster or slower.
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
    std::size_t min_runs = 0;                 // of the side with fewer runs; 0: the samples are of one process
    double run_noise = 0;                     // relative standard deviation between runs, if there are runs
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
    bool two_processes = false;  // of paired samples: each side has a process of its own
    double min_effect = 0.01;    // smaller changes count as the same
};

// The samples of one process. `busy`: the relative error of its times that the load of the machine may cause; `stalled`, in
// percent: how long threads that wait for each other waited for a CPU, if that decided the times.
struct SampledRun {
    std::span<const double> samples;
    double busy = 0;
    std::optional<double> stalled = {};
};

// Neither side is empty.
Comparison compare_runs(std::span<const SampledRun> baseline, std::span<const SampledRun> candidate,
                        double min_effect = 0.01);

// Paired samples of different counts are compared as unpaired.
Comparison compare(std::span<const double> baseline, std::span<const double> candidate,
                   const ComparisonOptions& options = {});

}  // namespace gpuprof::measure
