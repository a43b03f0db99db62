// The viewer's page, built from web/ and embedded in the program.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace gpuprof::inline cli {

// Fails if the program was built without node and npm.
Result<std::string_view> viewer_page();

}  // namespace gpuprof::cli
