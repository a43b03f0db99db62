// A page of the documentation as text for a terminal or a pipe.
#pragma once

#include <string>
#include <string_view>

#include "core/report/report.h"

namespace gpuprof {

// Headings at the left, the rest indented and wrapped; tables with columns that fit, code as it is. At most kMaxPageWidth cells wide, code
// aside: longer lines are hard to read.
std::string page_text(std::string_view markdown, const Style& style);
inline constexpr int kMaxPageWidth = 100;

}  // namespace gpuprof
