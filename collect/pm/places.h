// Where a libcupti may be.
#pragma once

#include <string>
#include <vector>

namespace gpuprof::pm {

// Names and paths to try, in order. `named` (absolute) is the only one when it is not empty.
std::vector<std::string> cupti_places(const std::string& named, const std::string& program, const std::string& path);

}  // namespace gpuprof::pm
