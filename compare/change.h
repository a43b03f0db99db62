// The change of a quantity from BASE to NEW, in percent of BASE, with an interval and a verdict.
//
// There are two sources of samples, because two things vary. Within one recording: steps. Their medians are compared by
// a bootstrap (measure/bench_comparison.h has method and sources). Between recordings: variation from one start of the
// program to the next, which no number of steps reveals. With repeats, one value per recording is a sample (Kalibera
// and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013: the highest level that varies decides). The
// difference of the means of their logarithms gets an interval of Student's t with pooled variance; this needs at least
// three recordings in total.
//
// lower, higher: the 99 % interval excludes 0 and the change is at least kMinChange.
// same: otherwise, if the 95 % interval lies within +-kSameWithin (an equivalence test: Schuirmann, "A comparison of
// the two one-sided tests procedure", 1987).
// So "same" is a positive finding; lack of evidence is "cannot tell".
//
// Fewer than eight independent steps per side have no interval of a median. A difference of kMinChangeOfFew or more still
// gets a verdict, with low confidence: from 2 to 7 steps if it exceeds Student's 99.5 % interval and kRangesOfFew times
// the widest range of a side; from 8 steps if it exceeds the 99 % interval for the effective number of steps.
//
// Parts of one process differ if it drifts, without a change of the program. A difference that a visible common drift
// can explain gets no verdict.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/statistics.h"

namespace gpuprof::compare {

inline constexpr double kMinChange = 1.0;        // percent
inline constexpr double kSameWithin = 2.0;       // percent
inline constexpr double kMinChangeOfFew = 10.0;  // percent
inline constexpr double kRangesOfFew = 3.0;

enum class Word { lower, higher, same, cannot_tell };

// "lower", "higher", "same", "cannot tell"; for durations "faster", "slower", ...
std::string_view name_of(Word word);
std::string_view name_of_speed(Word word);

struct Change {
    std::optional<double> base, next;           // median of steps, geometric mean of runs, or the single value
    std::optional<double> pct;                  // of base; absent if a side has no value or base is 0
    std::optional<measure::Interval> interval;  // of pct, 95 %
    std::optional<measure::Interval> strict;    // of pct, 99 %
    std::optional<double> noise_pct;  // standard deviation of the samples relative to their mean, of the noisier side
    std::size_t base_samples = 0, new_samples = 0;  // steps or runs; 0 for a single value
    Word word = Word::cannot_tell;
    bool few = false;      // few samples, or one recording per side: the verdict has low confidence
    bool of_runs = false;  // the samples are recordings
    std::string because;
};

// Samples within one recording per side, in order of time; `what` names them in `because` ("steps"). Compares their
// medians:
Change change_of_samples(std::span<const double> base, std::span<const double> next, std::string_view what,
                         bool one_process = false);
// Compares their means, by Welch's t: a tail of slow samples counts, a single one does not.
Change change_of_means(std::span<const double> base, std::span<const double> next, std::string_view what,
                       bool one_process = false);
// Compares their 95th percentiles (nearest rank), by the same bootstrap at another rank; needs a hundred samples per
// side.
Change change_of_p95(std::span<const double> base, std::span<const double> next, std::string_view what,
                     bool one_process = false);
// Compares their sums: the change of the means if both sides have equally many samples, otherwise unknown.
Change change_of_sums(std::span<const double> base, std::span<const double> next, std::string_view what,
                      bool one_process = false);
// Withdraws from the change of one pair of recordings, with these samples, what a single recording per side cannot show:
// differences that runs of one program often have, or that a drift or two states of the clocks within a recording
// explain. What is left has low confidence. `same_median`: the runs are equally fast, and this is about their tails.
Change change_of_one_pair(Change change, std::span<const double> base, std::span<const double> next,
                          bool same_median = false);
// Withdraws from the change of several recordings a difference that two states of the clocks can explain, if the steps of
// one recording per side show such states.
Change without_states(Change change, std::span<const double> base, std::span<const double> next);
// One value per recording.
Change change_of_runs(std::span<const double> base, std::span<const double> next);
// One value per side and no measure of its variation: the same only if they are equal.
Change change_of_values(std::optional<double> base, std::optional<double> next);

using measure::student_t;

// From an interval to a verdict and its reason; also used by sample_changes.cc.
inline constexpr double kReported = 0.95, kStrict = 0.99;  // levels of the two intervals of a Change

// From the intervals alone, as described above.
Word word_of(const Change& change);
// "from 20 and 20 steps with 1.0 % noise, 95 % interval ..."; `what` names the samples.
std::string because_of(const Change& change, std::string_view what);
inline bool decided(const Change& change) { return change.word == Word::lower || change.word == Word::higher; }
// The same with zero difference.
Change unchanged(Change change, std::string_view because);
// In percent of base; absent if a side is absent, or if base is 0.
std::optional<double> pct_between(std::optional<double> base, std::optional<double> next);

}  // namespace gpuprof::compare
