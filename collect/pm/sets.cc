// The lists of sets.def as constants.
#include "collect/pm/sets.h"

#include "collect/pm/sets.def"

namespace gpuprof::pm {
namespace {

enum class SetIndex {
#define GPUPROF_PM_SET_INDEX(id, name, doc) id,
    GPUPROF_PM_SETS(GPUPROF_PM_SET_INDEX)
#undef GPUPROF_PM_SET_INDEX
};

#define GPUPROF_PM_BIT(id, name, doc) constexpr unsigned id = 1U << static_cast<unsigned>(SetIndex::id);
GPUPROF_PM_SETS(GPUPROF_PM_BIT)
#undef GPUPROF_PM_BIT

constexpr CounterSet kSets[] = {
#define GPUPROF_PM_SET(id, name, doc) {name, doc, id},
    GPUPROF_PM_SETS(GPUPROF_PM_SET)
#undef GPUPROF_PM_SET
};

constexpr const char* named(const char* name) { return name[0] == '\0' ? nullptr : name; }

constexpr CounterSource kSources[] = {
#define GPUPROF_PM_SOURCE(id, sets, first, second, third) \
    {PmCounter::id, sets, {named(first), named(second), named(third)}},
    GPUPROF_PM_SOURCES(GPUPROF_PM_SOURCE)
#undef GPUPROF_PM_SOURCE
};
static_assert(std::size(kSources) == kPmCounterCount, "every counter has one source");

}  // namespace

std::span<const CounterSet> counter_sets() { return kSets; }

const CounterSet* find_counter_set(std::string_view name) {
    for (const CounterSet& set : kSets)
        if (set.name == name) return &set;
    return nullptr;
}

std::span<const CounterSource> counter_sources() { return kSources; }

}  // namespace gpuprof::pm
