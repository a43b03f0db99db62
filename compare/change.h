// By how much a quantity changed from BASE to NEW, in percent of BASE, with an interval and one word.
//
// Two sources of samples, because two things vary. Within one recording: steps. Their medians are compared by a bootstrap
// (measure/comparison.h has method and sources). Between recordings: what differs from one start of the program to the next,
// which no number of steps shows. With repeats, one value per recording is a sample (Kalibera and Jones, "Rigorous
// Benchmarking in Reasonable Time", ISMM 2013: the highest level that varies decides), and the difference of the means of
// their logarithms gets an interval of Student's t with pooled variance; that needs three recordings or more in all.
//
// lower, higher: the 99 % interval excludes 0 and the change is at least kLeastChange.
// same: otherwise, when the 95 % interval lies within +-kSameWithin (an equivalence test: Schuirmann, "A comparison of the two
// one-sided tests procedure", 1987). So "same" is something shown, never a lack of evidence; that is "cannot tell".
//
// Fewer than eight independent steps a side have no interval of a median. A difference of kLeastOfFew or more is called all the
// same, with low confidence: from 2 to 7 steps when it is beyond Student's interval with 99.5 % and kRangesOfFew times the widest
// range of a side; from 8 on beyond the interval with 99 %, from 12 on with 95 %, of as many steps as their dependence leaves.
//
// Parts of one process differ when it drifts, without a change of the program. A difference that a visible drift of both can
// explain is not called (scatter.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/statistics.h"

namespace gpuprof::compare {

inline constexpr double kLeastChange = 1.0;  // percent
inline constexpr double kSameWithin = 2.0;   // percent
inline constexpr double kLeastOfFew = 10.0;  // percent
inline constexpr double kRangesOfFew = 3.0;

enum class Word { lower, higher, same, cannot_tell };

// "lower", "higher", "same", "cannot tell"; of lengths of time "faster", "slower", ...
std::string_view name_of(Word word);
std::string_view name_of_speed(Word word);

struct Change {
    std::optional<double> base, next;           // median of steps, geometric mean of runs, or the one value
    std::optional<double> pct;                  // of base; absent when a side has no value or base is 0
    std::optional<measure::Interval> interval;  // of pct, 95 %
    std::optional<measure::Interval> strict;    // of pct, 99 %
    std::optional<double> noise_pct;            // standard deviation of the samples over their mean, the larger side's
    std::size_t base_samples = 0, new_samples = 0;  // steps or runs; 0 for a single value
    Word word = Word::cannot_tell;
    bool few = false;      // samples: what is said has low confidence
    bool of_runs = false;  // the samples are recordings
    std::string because;
};

// Samples within one recording a side, in the order of time; `what` names them in `because` ("steps"). Of their medians:
Change change_of_samples(std::span<const double> base, std::span<const double> next, std::string_view what,
                         bool one_process = false);
// Of their means, by Welch's t: a tail of slow samples counts, a single one does not.
Change change_of_means(std::span<const double> base, std::span<const double> next, std::string_view what,
                       bool one_process = false);
// Of their 95th percentiles (nearest rank), by the bootstrap of the median at another rank; takes a hundred samples a side.
Change change_of_p95(std::span<const double> base, std::span<const double> next, std::string_view what,
                     bool one_process = false);
// Of their sums: that of the means when both sides have as many samples, and not known otherwise.
Change change_of_sums(std::span<const double> base, std::span<const double> next, std::string_view what,
                      bool one_process = false);
// One value per recording.
Change change_of_runs(std::span<const double> base, std::span<const double> next);
// One value a side and nothing that says how much it varies: the same only when they are equal.
Change change_of_values(std::optional<double> base, std::optional<double> next);

// t with P(|T| <= t) = level, for a whole number of degrees of freedom >= 1.
double student_t(double level, std::size_t degrees);

}  // namespace gpuprof::compare
