// A page of the documentation as text for a terminal or a pipe.
#pragma once

#include <string>
#include <string_view>

#include "present/report/report.h"

namespace gpuprof::inline cli {

// Headings are flush left; the rest is indented and wrapped. Table columns are narrowed to fit; code is unchanged.
// Except for code, lines have at most kMaxPageWidth cells: longer ones are hard to read.
std::string page_text(std::string_view markdown, const Style& style);
inline constexpr int kMaxPageWidth = 100;

}  // namespace gpuprof::cli
