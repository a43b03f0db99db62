// What to do about a unit that holds a job up, by its cause.
#pragma once

#include <string_view>

#include "core/analyze/ranks/straggler.h"

namespace gpuprof::inline ranks {

// One instruction.
std::string_view advice_on(DelayCause cause);

}  // namespace gpuprof::ranks
