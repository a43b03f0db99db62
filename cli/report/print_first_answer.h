// The first answer of a trace as text, for commands that end with it.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/model/trace.h"

namespace gpuprof::inline cli {

Result<std::string> first_answer_text(Trace trace);

}  // namespace gpuprof::cli
