#include "core/view/levels.h"

#include <algorithm>

namespace gpuprof {
namespace {

constexpr DurNs kFinest = 1024, kStep = 4;  // ns; powers of two, so that bins nest
constexpr std::size_t kFew = 2000;          // a level with no more needs no coarser one
constexpr DurNs kCoarsest = DurNs{1} << 52;

MergedSlice merged(const Slice& slice) {
    return {slice.start, slice.dur, slice.name, slice.row, 1, slice.dur, slice.dur};
}
MergedValue merged(const Value& value) { return {value.time, value.value, value.value, value.value, 1}; }
const MergedSlice& merged(const MergedSlice& slice) { return slice; }
const MergedValue& merged(const MergedValue& value) { return value; }

DurNs length(const MergedSlice& slice) { return slice.dur; }
DurNs length(const MergedValue&) { return 0; }
TimeNs start(const MergedSlice& slice) { return slice.start; }
TimeNs start(const MergedValue& value) { return value.time; }

void join(MergedSlice& into, const MergedSlice& next) {
    into.dur = std::max(into.start + into.dur, next.start + next.dur) - into.start;
    if (next.longest > into.longest) into.longest = next.longest, into.name = next.name;
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

template <class Merged, class Finer>
PodVector<Merged> merge(const PodVector<Finer>& finer, DurNs resolution) {
    PodVector<Merged> coarse;
    bool open = false;  // whether the last one takes more
    for (const Finer& each : finer) {
        const Merged& next = merged(each);
        bool is_short = length(next) < resolution;
        if (open && is_short && start(coarse.back()) / resolution == start(next) / resolution) {
            join(coarse.back(), next);
        } else {
            coarse.push_back(next);
            open = is_short;
        }
    }
    return coarse;
}

template <class Merged, class Finest>
std::vector<Level<Merged>> levels(const PodVector<Finest>& finest) {
    std::vector<Level<Merged>> levels;
    std::size_t size = finest.size();
    for (DurNs resolution = kFinest; size > kFew && resolution < kCoarsest; resolution *= kStep) {
        PodVector<Merged> next =
            levels.empty() ? merge<Merged>(finest, resolution) : merge<Merged>(levels.back().items, resolution);
        if (next.size() > size / 2) continue;
        size = next.size();
        levels.push_back({resolution, std::move(next)});
    }
    return levels;
}

}  // namespace

std::vector<Level<MergedSlice>> levels_of(const PodVector<Slice>& slices) { return levels<MergedSlice>(slices); }
std::vector<Level<MergedValue>> levels_of(const PodVector<Value>& values) { return levels<MergedValue>(values); }

}  // namespace gpuprof
