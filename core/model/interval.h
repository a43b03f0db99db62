// Interval algebra on the time axis: the base of every busy, idle, overlap and exposed figure.
// An IntervalSet is sorted, disjoint and without touching or empty members, so its length is a plain sum and set
// operations are linear merges. Half-open: [start, end).
#pragma once

#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/large_allocator.h"

namespace gpuprof {

struct Interval {
    TimeNs start = 0;
    TimeNs end = 0;
    DurNs length() const { return end - start; }
    bool operator==(const Interval&) const = default;
};

// Intervals in any order, and those of a set.
using Intervals = std::vector<Interval, LargeAllocator<Interval>>;
using IntervalSet = Intervals;

// Makes `set` the union of itself and `next`, which must not start before any interval added earlier. Constant time.
void add_merged(IntervalSet& set, Interval next);
// The union of intervals in any order; empty ones vanish, touching ones become one.
IntervalSet unite(Intervals intervals);
// The union of two sets.
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
// What lies in both.
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
// What lies in a and not in b.
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
// What of `within` the set leaves free.
IntervalSet complement(const IntervalSet& set, Interval within);
// Sum of the lengths.
DurNs length(const IntervalSet& set);
// Length of what of the set lies inside `within`. Logarithmic plus the members touched.
DurNs length_within(const IntervalSet& set, Interval within);

}  // namespace gpuprof
