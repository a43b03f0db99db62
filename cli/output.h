// Where a command's answer goes: standard output or the file of -o.
#pragma once

#include <string>
#include <string_view>

#include "core/base/file_sink.h"
#include "core/base/result.h"

namespace gpuprof {

using Output = FileSink;

// Writes a short text to standard output.
Status print(std::string_view text);
// One line on standard error, "gpu-profile: ...", for what the user should know beside the answer.
void note(std::string_view line);

}  // namespace gpuprof
