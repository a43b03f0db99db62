// Where a libcupti may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::pm {

// Names and paths to try, in order; only the one that GPUPROF_CUPTI names when it is set. `program` is a command whose Python
// is looked into; `environment` answers "" for what is not set.
std::vector<std::string> cupti_places(const std::string& program,
                                      const std::function<std::string(const char* name)>& environment);

}  // namespace gpuprof::pm
