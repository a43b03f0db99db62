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
    std::string because;
};

// Samples within one recording a side, in the order of time; `what` names them in `because` ("steps").
Change change_of_samples(std::span<const double> base, std::span<const double> next, std::string_view what);
// One value per recording.
Change change_of_runs(std::span<const double> base, std::span<const double> next);
// One value a side and nothing that says how much it varies: the same only when they are equal.
Change change_of_values(std::optional<double> base, std::optional<double> next);

// t with P(|T| <= t) = level, for a whole number of degrees of freedom >= 1.
double student_t(double level, std::size_t degrees);

}  // namespace gpuprof::compare
