// Where a libcupti may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::pm {

// Names for the loader and files that are there, to try in order; only what GPUPROF_CUPTI names when it is set, there or not.
// `program` is a command whose Python is looked into; `environment` answers "" for what is not set; `root` is the folder that
// stands for /.
std::vector<std::string> cupti_places(const std::string& program,
                                      const std::function<std::string(const char* name)>& environment,
                                      const std::string& root = "");

}  // namespace gpuprof::pm
