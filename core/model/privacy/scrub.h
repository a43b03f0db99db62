// A recording that can be shared: without names of files, hosts and users, without command lines and, on request, with
// made-up names for ranges and kernels. Rows, numbers and times stay unchanged. core/schema/tables.def declares for
// each column what is private.
#pragma once

#include "core/model/privacy/scrub_names.h"
#include "core/model/trace.h"

namespace gpuprof::inline model {

Trace scrubbed(Trace trace, ScrubOptions options);

}  // namespace gpuprof::model
