// The parts of a recording before merging: one capture per process and companion, in a folder.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/files/storage.h"
#include "core/base/result.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/spool/native_names.h"

namespace gpuprof::inline cli {

// Where the parts of a recording are while its command runs: next to the capture, so that a full disk is noticed where it
// matters. But if the capture is on a file system of the network, on a local disk: a job of a thousand ranks would write
// to the shared one all the time.
//
// The folder for the parts of `output`: `chosen` if it is not empty (--parts); of a capture on the network, the first of
// `candidates` that is on a local disk; else that of the capture.
std::string parts_folder(const std::string& output, const std::string& chosen, std::span<const std::string> candidates,
                         const std::function<StorageKind(const std::string&)>& storage);

// Of this machine; temporary_folders() are candidates.
std::string parts_folder(const std::string& output, const std::string& chosen);

// Path of a companion's part.
std::string companion_part(const std::string& folder, const std::string& name);
bool is_companion_part(const std::string& file);
// Number of processes that left parts, named PID-TIME.gpuprof; other parts are from companions.
std::size_t processes_of(const std::vector<std::string>& files);

// Merges all parts into one trace. The order is: `own`, the launcher's facts; companions; processes, whose own facts
// win. `name` is the output file. `code`: whether names of native functions are looked up in the files that the parts name.
Result<Trace> merge_parts(Batch own, std::vector<std::string> files, const std::string& name, CodeFiles code);
// Whether a folder of parts is as `record` makes it: this user's, and closed to all others.
bool is_private(const std::string& folder);
// An error if a folder of parts contains what no `record` made: a link would lead what is written there to another file.
Status check_parts(const std::string& folder);
Status write_recording(const Trace& trace, const std::string& file);

// Prepares a later merge: adds `own` to the parts if there is room, and returns the command that merges them.
std::string keep_for_merging(Batch own, const std::string& folder, const std::string& output);

}  // namespace gpuprof::cli
