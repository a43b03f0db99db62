// Reduces the files of a job, each in a process of its own, with as many at once as there are workers. Summaries are
// kept in a folder: a file that did not change is not read again, and an interrupted run goes on where it was. This is the only
// place that knows what is kept; remote_engine.h has the files read elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/ranks/job_progress.h"
#include "cli/ranks/rank_files.h"
#include "cli/ranks/reader_process.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct EngineOptions {
    unsigned workers = 0;      // 0: one per core, if memory allows
    std::string cache;         // folder of the summaries
    std::string unkept;        // folder of those that another run could not use; for files of storages
    std::string step_range;    // as in Options
    double seconds = 600;      // per file
    std::uint64_t memory = 0;  // address space per file in bytes, doubled for a second try; 0: no limit
};

struct ReducedFile : ListedFile {
    std::string summary;  // path of its capture; "" if it could not be made
    std::string problem;  // then: why
    bool cached = false;
    bool foreign = false;  // not a recording
};

// In the order of `files`.
Result<std::vector<ReducedFile>> reduce_files(const std::vector<ListedFile>& files, const EngineOptions& options,
                                              JobProgress& progress);

// What every engine does.
// The files, none reduced yet; the folder of summaries exists, and has nothing that killed processes left. `progress` knows how many.
Result<std::vector<ReducedFile>> begin_job(const std::vector<ListedFile>& files, const EngineOptions& options,
                                           JobProgress& progress);
// Where to write the summary of a file; absent if the file needs none: it is a summary, has one, or cannot have one.
std::optional<std::string> summary_to_make(ReducedFile& file, const EngineOptions& options);
// What `ranks reduce` is told besides the paths of the file and the summary.
std::vector<std::string> reduce_words(const ReducedFile& file, const EngineOptions& options, std::uint64_t memory);
// After the last process that read a file.
void end_file(ReducedFile& file, const ChildEnd& end, const std::string& summary);
void count_file(const ReducedFile& file, JobProgress& progress);

// The folder for summaries of this user: $XDG_CACHE_HOME/gpu-profile/ranks or ~/.cache/gpu-profile/ranks; "" if there
// is no home.
std::string usual_cache();

}  // namespace gpuprof::cli
