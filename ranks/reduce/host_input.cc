#include "ranks/reduce/host_input.h"

#include <map>

#include "analyze/facts/facts.h"
#include "analyze/facts/steps/step_finder.h"
#include "analyze/knowledge/host_names.h"

namespace gpuprof::inline ranks {

IntervalSet loader_ranges(const Trace& trace, StringId thread) {
    const RangeTable& ranges = trace.range();
    std::map<StringId, bool> loads;
    Intervals found;
    for (Row row = 0; row < ranges.rows; ++row) {
        if (!ranges.name.has(row)) continue;
        if (thread != kNoString && ranges.thread.value_or(row, kNoString) != thread) continue;
        auto [known, fresh] = loads.try_emplace(ranges.name[row], false);
        if (fresh) known->second = names_loader(trace.text(ranges.name[row]));
        if (known->second) found.push_back({ranges.start[row], ranges.start[row] + ranges.dur[row]});
    }
    return unite(std::move(found));
}

IntervalSet host_input(const Facts& facts) {
    StringId thread = facts.get<Steps>().thread;
    return thread == kNoString ? IntervalSet{} : loader_ranges(facts.trace(), thread);
}

}  // namespace gpuprof::ranks
