// Several recordings as one trace: the processes or ranks of one job (docs/guides/several-files.md, decision 0015).
//
// A process whose key is HOST:PID is the same process in every recording. Any other key is valid only within
// its recording and gets its name as a prefix. Devices: device_numbers.h. Times stay unchanged if every
// recording has wall-clock times; otherwise all parts are moved to a common start, which is a loss
// (no_common_clock). Facts about a recording (meta) get its name as a prefix of their key; facts about
// processes do not.
#pragma once

#include <string>
#include <vector>

#include "core/model/build/trace_builder.h"

namespace gpuprof::inline model {

struct JobPart {
    std::string name;  // of its file; unique
    Trace trace;
};

// The contents of a trace, to be merged into another; without the losses that TraceBuilder::finish() finds again.
Batch batch_of(Trace trace);

// `about`: rows and losses of the job itself. Needs at least one part.
Trace merge_traces(std::vector<JobPart> parts, Origin origin, Batch about);

}  // namespace gpuprof::model
