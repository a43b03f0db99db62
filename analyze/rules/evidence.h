// Evidence as sentences with the handles of the rows that show it: k-3 is the third row of `kernels`, gap-2 of `gaps`,
// idle-1 of `idle`, a-4 of `api`. Handles come from the facts that the tables are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/host/collective_patterns.h"
#include "analyze/facts/kernels/kernel_bound.h"
#include "analyze/knowledge/causes.h"
#include "analyze/replay/gain.h"
#include "core/model/answer.h"

namespace gpuprof::inline rules {

// Percent of the effective window below which a cost is not worth a finding.
inline constexpr double kMinFindingPct = 3;

std::string spoken_count(std::size_t n);  // "1,200"

// "idle-1: 155 ms of idle time: input pipeline".
std::string idle_line(const Facts& facts, IdleCause cause);
// Adds the longest gap of the cause and what Python did in such gaps, if known, and sets the place.
void push_gap_lines(const Facts& facts, IdleCause cause, Finding& finding);

// What the finding costs, and the prediction that says so, if there is one.
void set_cost(Finding& finding, const Gain& gain);

// The part of a group of kernels that matters to a rule, in ns of summed durations.
using KernelPart = std::function<DurNs(const KernelGroup&)>;
// The time that devices were busy with those parts: durations minus the overlap with other kernels.
DurNs busy_with(const Facts& facts, const KernelPart& part);
// Adds the groups with the largest parts: "k-3 (12.3 ms in 40 launches, 18.0 % of kernel time): name". Sets the place, if it has none,
// to that of the operator whose kernels of these groups take longest.
void push_kernel_lines(const Facts& facts, const KernelPart& part, Finding& finding);

// Why a rule based on names abstains: most kernel time is in kernels whose names reveal nothing; "" otherwise.
std::string names_are_uninformative(const Facts& facts);

// Percent of the effective window from which a pattern is a finding of its own.
inline constexpr double kMinPatternPct = 5;
// The parts of a group (one of KernelGroups) that a finding of their own explains better than their limit does: passes
// over the scores of attention, and casts and changes of layout elsewhere.
DurNs attention_passes(const Facts& facts, const KernelGroup& group);
DurNs casts_outside_attention(const Facts& facts, const KernelGroup& group);
DurNs layout_changes(const Facts& facts, const KernelGroup& group);
DurNs row_additions(const Facts& facts, const KernelGroup& group);  // of gradients of embeddings and indices

DurNs of_bound(const KernelGroup& group, Bound bound);

// Whether small collectives in a row are a finding.
bool too_many_small(const Facts& facts, const CollectivePatterns::Small& found);
inline constexpr double kBytesIn16Bits = 0.5;  // of those in FP32
// What 16 bits would save of the transfers of gradients in FP32 that nothing hides; 0 if that is no finding.
DurNs fp32_gradients_cost(const Facts& facts);

}  // namespace gpuprof::rules
