// Where a libcupti may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::pm {

// Names for the loader and existing files, to try in order. If GPUPROF_CUPTI is set, only its value, existing or not.
// `program` is a command whose Python environment is searched; `environment` returns "" for unset variables; `root`
// stands for /.
std::vector<std::string> cupti_candidates(const std::string& program,
                                          const std::function<std::string(const char* name)>& environment,
                                          const std::string& root = "");

}  // namespace gpuprof::pm
