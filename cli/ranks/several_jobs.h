// The files of several jobs in one folder: other jobs, or attempts of one that was restarted. Mixed, they would be
// matched with each other; so they are told apart, and the user chooses.
//
// Files are of different jobs if
//   1. they recorded other numbers of ranks;
//   2. they know no common group, but each of them has groups that list ranks of the other. Only whole recordings tell:
//      one that is cut may lack groups;
//   3. they are of the same rank, or were recorded more than ten minutes apart: attempts, split where nothing was
//      recorded for longest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline cli {

// A rank of a saved job that had no file. Another file may be of it.
bool is_missing(const Trace& summary, Row rank);

// What tells the job of a summary.
struct JobFile {
    std::string path;
    std::vector<std::int32_t> ranks;  // one, except in a summary of a whole job
    std::int64_t world = 0;           // ranks of the job; 0: unknown
    TimeNs from = 0, to = 0;
    bool whole = true;
    std::set<std::int64_t> groups;          // identities of groups
    std::vector<std::int32_t> group_ranks;  // all ranks that these list, ascending

    bool lists(std::int32_t rank) const { return std::binary_search(group_ranks.begin(), group_ranks.end(), rank); }

    static JobFile of(const Trace& summary, std::string path);
};

// Positions in `files`, in the order of begin. A file is in exactly one job. `files` are no copies of each other.
using JobFiles = std::vector<std::size_t>;
std::vector<JobFiles> split_jobs(const std::vector<JobFile>& files);

// "job 1: 8 ranks of 8 (0-7), recorded from 2026-11-20 13:01:02 UTC, a/rank0.json to a/rank7.json"
std::string describe_job(const std::vector<JobFile>& files, const JobFiles& job, std::size_t number);

}  // namespace gpuprof::cli
