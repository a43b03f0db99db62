// The options of analyses (core/schema/options.def) as command line flags: --gap-min-ns, --device, ...
#pragma once

#include "cli/command_line.h"
#include "core/schema/options.h"

namespace gpuprof {

// One flag per declared option, filling `options`, which must outlive the parsing.
void declare_options(CommandLine& line, Options& options);

}  // namespace gpuprof
