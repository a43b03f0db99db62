// When the host thread of a rank's steps waited for input, for jobs that no device does the work of: there is no idle
// device whose causes would tell.
#pragma once

#include "core/model/interval.h"

namespace gpuprof {

class Facts;

// Ranges of a data loader on the thread of the steps. Empty if steps are no ranges.
IntervalSet host_input(const Facts& facts);

}  // namespace gpuprof
