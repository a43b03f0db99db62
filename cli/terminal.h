// What the terminal can show: width, colours, Unicode. Read from the environment and the output once; a report takes it
// as a plain Style and looks at neither.
#pragma once

#include "core/report/report.h"

namespace gpuprof {

// The style for `file`, the name given with -o ("-" is standard output). Width: COLUMNS, else the terminal's, else 100.
// Colours: only on a terminal, unless NO_COLOR is set or TERM is dumb. Unicode: when the locale says UTF-8 or nothing.
Style style_for(const std::string& file);

}  // namespace gpuprof
