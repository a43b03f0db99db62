// Long answers on a terminal, a screenful at a time.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace gpuprof::inline cli {

// Prints `text`. If it does not fit the terminal, the command in PAGER shows it, or else `less` if installed. An empty
// PAGER or `cat` prints it directly.
Status print_paged(std::string_view text);

}  // namespace gpuprof::cli
