// Reduces the files of a job, each in a process of its own, with as many at once as there are workers. Summaries are
// kept in a folder: a file that did not change is not read again, and an interrupted run goes on where it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/ranks/job_progress.h"
#include "core/base/result.h"
#include "ranks/reduce/reduce.h"

namespace gpuprof::inline cli {

struct EngineOptions {
    unsigned workers = 0;      // 0: one per core, if memory allows
    std::string cache;         // folder of the summaries
    std::string step_range;    // as in Options
    double seconds = 600;      // per file
    std::uint64_t memory = 0;  // address space per file in bytes, doubled for a second try; 0: no limit
};

struct ReducedFile {
    RankFile file;
    std::string summary;  // path of its capture; "" if it could not be made
    std::string problem;  // then: why
    bool cached = false;
    bool foreign = false;  // not a recording
};

// In the order of `files`.
Result<std::vector<ReducedFile>> reduce_files(const std::vector<RankFile>& files, const EngineOptions& options,
                                              JobProgress& progress);

// The folder for summaries of this user: $XDG_CACHE_HOME/gpu-profile/ranks or ~/.cache/gpu-profile/ranks; "" if there
// is no home.
std::string usual_cache();

}  // namespace gpuprof::cli
