// The recordings of a job as one trace of summaries: files of this machine by processes of this machine, URLs and Dask
// by the Python package.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_options.h"
#include "cli/ranks/engine.h"
#include "cli/ranks/rank_files.h"
#include "core/base/result.h"
#include "core/model/trace.h"
#include "core/schema/options.h"
#include "core/schema/read_limits.h"

namespace gpuprof::inline cli {

struct JobRequest {
    std::string name;  // of the job in answers
    RankNames names;
    EngineOptions engine;
    std::string dask;                  // address of a scheduler, or its file; "" for processes of this machine
    std::vector<std::string> storage;  // KEY=VALUE, for fsspec
    std::int64_t expect = 0;           // ranks of the job; 0: as recorded
    std::string job;                   // which of several in the folder: a number, "all", or "" if there should be one
    std::string steps;                 // which are replayed (ranks/reduce/chosen_steps.h)
    bool anonymise = false, quiet = false;
    bool converse = false;  // the process at the other end of the standard streams names the files and has them read
};

void declare_job(CommandLine& line, JobRequest& request);

// Whether a word is the URL of a storage, such as "s3://bucket/job/", and no path of this machine.
bool is_url(const std::string& word);

// Sets `job` if the code is ok. Another code: what failed has been said already.
Result<ExitCode> read_job(const std::vector<std::string>& paths, const JobRequest& request, const Options& options,
                          const ReadLimits& limits, std::optional<Trace>& job);

}  // namespace gpuprof::cli
