// Shared by change.cc and sample_changes.cc: from an interval to a verdict and its reason.
#pragma once

#include "compare/change.h"

namespace gpuprof::compare {

inline constexpr double kReported = 0.95, kStrict = 0.99;  // levels of the two intervals of a Change

// From the intervals alone, as described in change.h.
Word word_of(const Change& change);
// "from 20 and 20 steps with 1.0 % noise, 95 % interval ..."; `what` names the samples.
std::string because_of(const Change& change, std::string_view what);
// The same with zero difference.
Change unchanged(Change change, std::string_view because);
// In percent of base; absent if a side is absent, or if base is 0.
std::optional<double> pct_between(std::optional<double> base, std::optional<double> next);

}  // namespace gpuprof::compare
