// Sets of hardware counters and CUPTI's names for them, from sets.def.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/schema/metrics.h"

namespace gpuprof::pm {

struct CounterSet {
    std::string_view name, doc;
    unsigned bit;
};
std::span<const CounterSet> counter_sets();
// Null for an unknown name.
const CounterSet* find_counter_set(std::string_view name);

struct CounterSource {
    PmCounter counter;
    unsigned sets;                     // bits of CounterSet
    std::array<const char*, 3> names;  // CUPTI's, best first; null if there are fewer
};
std::span<const CounterSource> counter_sources();

}  // namespace gpuprof::pm
