#include "ranks/reduce/host_input.h"

#include "analyze/facts/facts.h"
#include "analyze/facts/host/loaders.h"
#include "analyze/facts/steps/step_finder.h"

namespace gpuprof::inline ranks {

IntervalSet loader_ranges(const Facts& facts, StringId thread) {
    const RangeTable& ranges = facts.trace().range();
    const Loaders& loaders = facts.get<Loaders>();
    Intervals found;
    for (Row row = 0; row < ranges.rows; ++row) {
        if (!ranges.name.has(row)) continue;
        if (thread != kNoString && ranges.thread.value_or(row, kNoString) != thread) continue;
        if (loaders.has(ranges.name[row])) found.push_back({ranges.start[row], ranges.start[row] + ranges.dur[row]});
    }
    return unite(std::move(found));
}

IntervalSet host_input(const Facts& facts) {
    StringId thread = facts.get<Steps>().thread;
    return thread == kNoString ? IntervalSet{} : loader_ranges(facts, thread);
}

}  // namespace gpuprof::ranks
