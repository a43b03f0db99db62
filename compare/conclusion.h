// What change.cc and sample_changes.cc share: from an interval to a word and its reason.
#pragma once

#include "compare/change.h"

namespace gpuprof::compare {

inline constexpr double kReported = 0.95, kStrict = 0.99;  // levels of the two intervals of a Change

// By the intervals alone, as the header of change.h says.
Word word_of(const Change& change);
// "by 20 and 20 steps with 1.0 % of noise, with 95 % the change lies between ..."; `what` names the samples.
std::string because_of(const Change& change, std::string_view what);
// The same with zero difference.
Change unchanged(Change change, std::string_view because);
// In percent of base; absent when a side is, or base is 0.
std::optional<double> pct_between(std::optional<double> base, std::optional<double> next);

}  // namespace gpuprof::compare
