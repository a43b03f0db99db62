// The files of a job behind URLs, or read by a Dask cluster: the Python package lists and reduces them
// (python/gpu_profile/many_ranks/__main__.py), and says on its standard output what became of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ranks/job_of_files.h"
#include "core/base/files/temporary_file.h"

namespace gpuprof::inline cli {

// One line of that output: a JSON object of one of three kinds.
//   {"files": 12, "bytes": 3400}                                  first: what was listed
//   {"number": 0, "name": ..., "rank": 3, "bytes": 340, "kept": false, "summary": PATH, "problem": "", "foreign": false}
//   {"error": "cannot read ...", "code": 3}                       last, if the job cannot be read
struct EngineLine {
    std::optional<Error> error;
    std::optional<ReducedFile> file;
    std::size_t number = 0;  // of the file
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};
Result<EngineLine> engine_line(const std::string& line);

// Summaries are below `folder`. A code other than ok: Python has said what failed. Ends this process by a signal that
// arrived during the run, after removing the folder.
Result<ExitCode> reduce_with_python(const std::vector<std::string>& paths, const JobRequest& request,
                                    TemporaryFolder& folder, std::vector<ReducedFile>& files);

}  // namespace gpuprof::cli
