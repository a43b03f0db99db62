#include "core/model/interval.h"

#include <algorithm>

namespace gpuprof::inline model {
namespace {

bool by_start(const Interval& a, const Interval& b) { return a.start < b.start; }

}  // namespace

void add_merged(IntervalSet& set, Interval next) {
    if (next.end <= next.start) return;
    if (!set.empty() && next.start <= set.back().end) {
        set.back().end = std::max(set.back().end, next.end);
    } else {
        set.push_back(next);
    }
}

IntervalSet unite(Intervals intervals) {
    if (!std::is_sorted(intervals.begin(), intervals.end(), by_start))
        std::sort(intervals.begin(), intervals.end(), by_start);
    IntervalSet set;
    for (const Interval& next : intervals) add_merged(set, next);
    return set;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    IntervalSet set;
    set.reserve(a.size() + b.size());
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        bool take_a = j == b.size() || (i < a.size() && a[i].start <= b[j].start);
        add_merged(set, take_a ? a[i++] : b[j++]);
    }
    return set;
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet set;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        Interval both{std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
        if (both.start < both.end) set.push_back(both);
        if (a[i].end < b[j].end) {
            ++i;
        } else {
            ++j;
        }
    }
    return set;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
    IntervalSet set;
    std::size_t j = 0;
    for (Interval left : a) {
        while (j < b.size() && b[j].end <= left.start) ++j;
        for (std::size_t k = j; k < b.size() && b[k].start < left.end; ++k) {
            if (left.start < b[k].start) set.push_back({left.start, b[k].start});
            left.start = std::max(left.start, b[k].end);
        }
        if (left.start < left.end) set.push_back(left);
    }
    return set;
}

IntervalSet complement(const IntervalSet& set, Interval within) {
    if (within.end <= within.start) return {};
    return subtract({within}, set);
}

DurNs length(const IntervalSet& set) {
    DurNs total = 0;
    for (const Interval& interval : set) total += interval.length();
    return total;
}

DurNs length_within(const IntervalSet& set, Interval within) {
    auto first =
        std::upper_bound(set.begin(), set.end(), within.start, [](TimeNs t, const Interval& i) { return t < i.end; });
    DurNs total = 0;
    for (; first != set.end() && first->start < within.end; ++first)
        total += std::min(first->end, within.end) - std::max(first->start, within.start);
    return total;
}

}  // namespace gpuprof::model
