// Which Python frames are the program's own.
#pragma once

#include <string_view>

namespace gpuprof::inline facts {

// Whether a frame is one of a library: less useful than the program's own frame around it.
bool of_a_library(std::string_view frame);

}  // namespace gpuprof::facts
