// What to do about a unit that holds a job up, by its cause.
#pragma once

#include <string_view>

#include "ranks/price/straggler.h"

namespace gpuprof::inline ranks {

// One instruction.
std::string_view advice_on(DelayCause cause);

}  // namespace gpuprof::ranks
