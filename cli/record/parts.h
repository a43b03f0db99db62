// The parts of a recording until they are merged: what processes and companions left in a folder, one capture each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/trace_builder.h"

namespace gpuprof {

// The path of a companion's part.
std::string companion_part(const std::string& folder, const std::string& name);
bool is_companion_part(const std::string& file);
// How many processes left parts, PID-TIME.gpuprof each; the others are companions'.
std::size_t processes_of(const std::vector<std::string>& files);

// All parts as one trace, after `own`, which is what the launcher knows itself; companions' come next: what a process says of
// itself wins. `name` is the file it will be in.
Result<Trace> merge_parts(Batch own, std::vector<std::string> files, const std::string& name);
Status write_recording(const Trace& trace, const std::string& file);

// For merging later: adds `own` to the parts, where there is room for that, and answers the command that merges them.
std::string keep_for_merging(Batch own, const std::string& folder, const std::string& output);

}  // namespace gpuprof
