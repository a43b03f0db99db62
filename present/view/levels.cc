#include "present/view/levels.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace gpuprof::inline view {
namespace {

// Bins are 2^10 ns, 2^12, ... wide, so that they nest.
constexpr int kFinestBits = 10, kStepBits = 2, kCoarsestBits = 52;
constexpr std::size_t kMaxItemsOfCoarsest = 2000;  // a level with at most this many items needs no coarser one

MergedSlice merged(const Slice& slice) {
    return {slice.start, slice.dur, slice.name, slice.row, 1, slice.dur, slice.dur};
}
MergedValue merged(const Value& value) { return {value.time, value.value, value.value, value.value, 1}; }
const MergedSlice& merged(const MergedSlice& slice) { return slice; }
const MergedValue& merged(const MergedValue& value) { return value; }

DurNs length(const Slice& slice) { return slice.dur; }
DurNs length(const MergedSlice& slice) { return slice.dur; }
DurNs length(const Value&) { return 0; }
DurNs length(const MergedValue&) { return 0; }
TimeNs start(const Slice& slice) { return slice.start; }
TimeNs start(const MergedSlice& slice) { return slice.start; }
TimeNs start(const Value& value) { return value.time; }
TimeNs start(const MergedValue& value) { return value.time; }

void join(MergedSlice& into, const MergedSlice& next) {
    into.dur = std::max(into.start + into.dur, next.start + next.dur) - into.start;
    if (next.longest > into.longest) {
        into.longest = next.longest;
        into.name = next.name;
    }
    into.count += next.count;
    into.busy += next.busy;
}

void join(MergedValue& into, const MergedValue& next) {
    double all = static_cast<double>(into.count + next.count);
    into.mean += (next.mean - into.mean) * static_cast<double>(next.count) / all;
    into.low = std::min(into.low, next.low);
    into.high = std::max(into.high, next.high);
    into.count += next.count;
}

// Calls first(item) for the first item of each merged item, until it returns false, and more(item) for the others.
template <class Finer, class First, class More>
void group(const Finer& finer, int bin_bits, First&& first, More&& more) {
    TimeNs bin = 0;     // of the last merged item
    bool open = false;  // whether it accepts more
    for (const auto& each : finer) {
        TimeNs here = start(each) >> bin_bits;
        bool is_short = length(each) < DurNs{1} << bin_bits;
        if (open && is_short && here == bin) {
            more(each);
        } else {
            if (!first(each)) return;
            open = is_short;
            bin = here;
        }
    }
}

// Returns nothing if the level would exceed `most` items. Counts before building, because a discarded level costs as
// much memory.
template <class Merged, class Finer>
std::optional<PodVector<Merged>> merge(const Finer& finer, int bin_bits, std::size_t most) {
    std::size_t size = 0;
    group(
        finer, bin_bits, [&](const auto&) { return ++size <= most; }, [](const auto&) {});
    if (size > most) return std::nullopt;
    PodVector<Merged> coarse;
    coarse.reserve(size);
    group(
        finer, bin_bits,
        [&](const auto& each) {
            coarse.push_back(merged(each));
            return true;
        },
        [&](const auto& each) { join(coarse.back(), merged(each)); });
    return coarse;
}

template <class Merged, class Events>
std::vector<Level<Merged>> levels(const Events& finest, const SeeLevel<Merged>& made) {
    std::vector<Level<Merged>> levels;
    std::size_t size = finest.size();
    for (int bits = kFinestBits; size > kMaxItemsOfCoarsest && bits < kCoarsestBits; bits += kStepBits) {
        std::optional<PodVector<Merged>> next =
            levels.empty() ? merge<Merged>(finest, bits, size / 2) : merge<Merged>(levels.back().items, bits, size / 2);
        if (!next) continue;
        size = next->size();
        if (made && !levels.empty()) made(levels.back());
        levels.push_back({DurNs{1} << bits, std::move(*next)});
    }
    if (made && !levels.empty()) made(levels.back());
    return levels;
}

template <class Iterator>
struct Between {
    Iterator first, last;
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
};

template <class Merged, class Iterator>
PodVector<Merged> items_of(Iterator begin, Iterator end, std::size_t events, DurNs resolution) {
    return *merge<Merged>(Between<Iterator>{begin, end}, std::countr_zero(static_cast<std::uint64_t>(resolution)),
                          events);
}

}  // namespace

std::vector<Level<MergedSlice>> levels_of(const Slices& slices, const SeeLevel<MergedSlice>& made) {
    return levels(slices, made);
}
std::vector<Level<MergedValue>> levels_of(const PodVector<Value>& values, const SeeLevel<MergedValue>& made) {
    return levels(values, made);
}
PodVector<MergedSlice> merged_items(const Slices& events, std::size_t begin, std::size_t end, DurNs resolution) {
    return items_of<MergedSlice>(events.at(begin), events.at(end), end - begin, resolution);
}
PodVector<MergedValue> merged_items(const PodVector<Value>& events, std::size_t begin, std::size_t end,
                                    DurNs resolution) {
    return items_of<MergedValue>(events.data() + begin, events.data() + end, end - begin, resolution);
}

}  // namespace gpuprof::view
