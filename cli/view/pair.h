// Recordings as the viewer shows them: `view` and `export html`.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schema/read_limits.h"
#include "core/view/document.h"

namespace gpuprof {

inline constexpr char kBaseDoc[] = "Show the recording against this earlier one of the same program.";

// `files` are one recording, as open_trace() takes them; `base` is compared with it when it is not empty.
Result<ViewPair> view_pair(const std::vector<std::string>& files, const std::string& base, const ReadLimits& limits);

}  // namespace gpuprof
