// The capabilities of the terminal: width, colours, Unicode. Read once from the environment and the output; a report
// takes them as a plain Style.
#pragma once

#include "present/report/report.h"

namespace gpuprof::inline cli {

// The style for `file`, the value of -o ("-" is standard output). Width: COLUMNS, else the terminal's, else 100.
// Colours: only on a terminal, unless NO_COLOR is set or TERM is dumb. Unicode: if the locale is UTF-8 or unset.
Style style_for(const std::string& file);

}  // namespace gpuprof::cli
