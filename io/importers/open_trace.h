// What users name as one recording: a file, a folder, or several of these, which are the processes or ranks of one job.
// Of a folder, only its own files are read, in name order, without hidden files; and those of the last run in plugins/profile.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline importers {

// The files of a folder that may be recordings, in name order. Of two that one tool wrote for one recording (a database
// next to its report), the second is a duplicate.
struct FolderFiles {
    std::vector<std::string> files, duplicates;
};
Result<FolderFiles> files_of_folder(const std::string& folder);

// The names of files in a trace: as given, or without their folders, for output that others will see.
enum class Naming { as_given, base_names };

// An unreadable file is a loss of the trace; if all are unreadable, that is the error.
Result<Trace> open_trace(std::span<const std::string> paths, const ReadLimits& limits = {},
                         Naming naming = Naming::as_given);
Result<Trace> open_trace(const std::string& path, const ReadLimits& limits = {}, Naming naming = Naming::as_given);

}  // namespace gpuprof::importers
