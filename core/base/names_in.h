// The names in a folder, sorted; none if it cannot be read.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::inline base {

std::vector<std::string> names_in(const std::string& folder);

}  // namespace gpuprof::base
