// A recording that can be shared: without the names of files, hosts and users and without command lines, and with other names for
// ranges and kernels when that is asked for. Rows, numbers and times stay as they are. What is private is declared column by column
// in core/schema/tables.def.
#pragma once

#include "core/model/scrub_names.h"
#include "core/model/trace.h"

namespace gpuprof {

Trace scrubbed(Trace trace, ScrubOptions options);

}  // namespace gpuprof
