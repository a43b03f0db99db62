// When the host waited for input: ranges of data loaders.
#pragma once

#include "core/model/interval.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline ranks {

// Of one thread; kNoString: of all.
IntervalSet loader_ranges(const Facts& facts, StringId thread = kNoString);

// Of the thread of the steps, for jobs that no device does the work of: there is no idle device whose causes would tell.
// Empty if steps are no ranges.
IntervalSet host_input(const Facts& facts);

}  // namespace gpuprof::ranks
