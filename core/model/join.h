// Several recordings as one trace: those of the processes or ranks of one job (docs/guides/several-files.md, decision 0015).
//
// A process whose key is HOST:PID is the same process in every recording. The key of any other process says who it is within its
// recording only, so the recording's name is put before it. Devices: device_numbers.h. Times stay as they are where every recording
// has times of day; where not, each is moved so that all begin together, and that is a loss (no_common_clock). Facts about a
// recording (meta) have its name before their key, except those that are of a process.
#pragma once

#include <string>
#include <vector>

#include "core/model/trace_builder.h"

namespace gpuprof {

struct PartOfJob {
    std::string name;  // of its file; each part has another
    Trace trace;
};

// What a trace consists of, to become part of another; without the losses that TraceBuilder::finish() finds again.
Batch parts_of(Trace trace);

// `about`: rows and losses of the job itself. There is at least one part.
Trace joined(std::vector<PartOfJob> parts, Origin origin, Batch about);

}  // namespace gpuprof
