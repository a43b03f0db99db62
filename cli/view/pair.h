// Recordings in the form of the viewer, for `view` and `export html`.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schema/read_limits.h"
#include "core/view/document.h"

namespace gpuprof {

inline constexpr char kBaseDoc[] = "Compare with this earlier recording of the same program.";
inline constexpr char kSourcesDoc[] = "Folder of source files whose lines the page shows beside their samples.";

// `files` are one recording, as for open_trace(); if `base` is not empty, it is compared with it.
// `sources`: the folder of the source files whose lines it shows; "" shows none.
Result<ViewPair> view_pair(const std::vector<std::string>& files, const std::string& base, const std::string& sources,
                           const ReadLimits& limits);

}  // namespace gpuprof
