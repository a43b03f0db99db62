// The options of analyses (core/schema/options.def) as command line flags: --gap-min-ns, --device, ...
#pragma once

#include "cli/command_line.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"

namespace gpuprof {

// One flag per declared option, filling `options`, which must outlive the parsing.
void declare_options(CommandLine& line, Options& options);

// The same of the limits of reading (core/schema/read_limits.def): --unpack-ratio, --pipe-wait, ...
void declare_read_limits(CommandLine& line, ReadLimits& limits);

}  // namespace gpuprof
