// The names in a folder, sorted. Not std::filesystem's iterator, which ends the process when memory is short.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::inline base {

Result<std::vector<std::string>> list_names(const std::string& folder);

// None if it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

// The existing paths that match a pattern of glob(3), sorted. Not glob() itself, which frees twice when memory is short.
std::vector<std::string> matching_paths(const std::string& pattern);

}  // namespace gpuprof::base
