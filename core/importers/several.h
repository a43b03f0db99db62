// What users name as one recording: a file, a folder, or several of these, which are then the processes or ranks of one job. Of a
// folder its own files are read, in the order of their names; those that begin with a dot are not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"

namespace gpuprof {

// What a trace calls its files: as they were given, or without their folders, for what others will see.
enum class Naming { as_given, base_names };

// One that cannot be read is a loss of the trace; when none can, that is the error.
Result<Trace> open_trace(std::span<const std::string> paths, const ReadLimits& limits = {},
                         Naming naming = Naming::as_given);
Result<Trace> open_trace(const std::string& path, const ReadLimits& limits = {}, Naming naming = Naming::as_given);

}  // namespace gpuprof
