// The viewer's page, built from web/ and carried by the program.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace gpuprof {

// Without the tools to build it (node, npm) a program has none, and says so.
Result<std::string_view> viewer_page();

}  // namespace gpuprof
