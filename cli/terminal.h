// The capabilities of the terminal: width, colours, Unicode. Read once from the environment and the output; a report
// takes them as a plain Style. And long answers, a screenful at a time.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {

// The style for `file`, the value of -o ("-" is standard output). Width: COLUMNS, else the terminal's, else 100.
// Colours: only on a terminal, unless NO_COLOR is set or TERM is dumb. Unicode: if the locale is UTF-8 or unset.
Style style_for(const std::string& file);

// Prints `text`. If it does not fit the terminal, the command in PAGER shows it, or else `less` if installed. An empty
// PAGER or `cat` prints it directly.
Status print_paged(std::string_view text);

}  // namespace gpuprof::cli
