// The first answer of a trace as text, for commands that end with it.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof {

Result<std::string> first_answer_text(Trace trace);

// What a trace that `record` made names as its tool.
inline constexpr const char* kRecorderTool = "gpu-profile record";

}  // namespace gpuprof
