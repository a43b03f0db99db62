// Whether a kernel name is what the option `--kernel` asks for: a handle of the timeline's or of measured kernels (k-3), a
// whole name, or a part of one.
#pragma once

#include <string_view>

namespace gpuprof::inline facts {

class Facts;

// True for every name if the option is empty.
bool is_selected(const Facts& facts, std::string_view name);

}  // namespace gpuprof::facts
