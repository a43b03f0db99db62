// Where a libcupti may be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collect/dl/library.h"
#include "core/base/result.h"

namespace gpuprof::pm {

// Names for the loader and existing files, to try in order. If GPUPROF_CUPTI is set, only its value, existing or not.
// `program` is a command whose Python environment is searched, or a libcupti to try first; `environment` returns "" for unset variables; `root`
// stands for /.
std::vector<std::string> cupti_candidates(const std::string& program,
                                          const std::function<std::string(const char* name)>& environment,
                                          const std::string& root = "");

// The first candidate for which `missing` returns null and, if given, `start` (CUPTI's answer to the first call) neither
// 15 nor 999, with which a CUPTI that is newer than the driver refuses; otherwise `missing` returns the name of a function
// that the library lacks. An error says which one lacks what, and which CUPTI `what` ("counters over time") needs.
Result<Library> find_cupti(const std::string& program, std::string_view what,
                           const std::function<const char*(const Library&)>& missing,
                           const std::function<int(const Library&)>& start = nullptr);

// CUPTI looks for its own libraries by bare name, which works only if the loader searches their folder. What is loaded already is
// found, so this loads one that is in the folder of CUPTI, and does nothing if it is not there.
void load_library_of_cupti(const std::string& cupti, const char* name);

}  // namespace gpuprof::pm
