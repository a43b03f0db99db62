// The options of analyses (core/schema/options.def) as command line flags: --gap-min-ns, --device, ...
#pragma once

#include "core/schema/options.h"

namespace CLI {
class App;
}

namespace gpuprof {

// One flag per declared option, filling `options`, which must outlive the parsing.
void declare_options(CLI::App& app, Options& options);

}  // namespace gpuprof
