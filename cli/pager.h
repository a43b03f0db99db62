// Long answers on a terminal, a screenful at a time.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace gpuprof {

// Prints `text`. On a terminal that it does not fit, by the command in PAGER, else by less where it is installed; PAGER set to nothing
// or to cat prints it directly.
Status print_paged(std::string_view text);

}  // namespace gpuprof
