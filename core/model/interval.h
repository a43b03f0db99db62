// Interval algebra on the time axis: the basis of every busy, idle, overlap and exposed figure.
// An IntervalSet is sorted and disjoint, without adjacent or empty members, so its length is a plain sum and set
// operations are linear merges. Half-open: [start, end).
#pragma once

#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/large_allocator.h"

namespace gpuprof::inline model {

struct Interval {
    TimeNs start = 0;
    TimeNs end = 0;
    DurNs length() const { return end - start; }
    bool operator==(const Interval&) const = default;
};

// Intervals in any order, and those of a set.
using Intervals = std::vector<Interval, LargeAllocator<Interval>>;
using IntervalSet = Intervals;

// Adds `next` to `set`; it must not start before any interval added earlier. Constant time.
void add_merged(IntervalSet& set, Interval next);
// The union of intervals in any order; empty ones are dropped, adjacent ones are merged.
IntervalSet unite(Intervals intervals);
// The union of two sets.
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
// The intersection.
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
// The difference: a without b.
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
// The complement of the set in `within`.
IntervalSet complement(const IntervalSet& set, Interval within);
// Sum of the lengths.
DurNs length(const IntervalSet& set);
// Length of the set inside `within`. Logarithmic, plus the intersecting members.
DurNs length_within(const IntervalSet& set, Interval within);

}  // namespace gpuprof::model
