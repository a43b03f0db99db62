// The files of a job: one or more of each rank, and what their names say of rank and host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ranks/reduce/reduce.h"

namespace gpuprof::inline cli {

struct RankNames {
    std::string rank_from, host_from;  // regular expressions with one group each; "" for the usual names
};

// What the user named: a file or folder of this machine, or a file of a storage that somebody else has listed.
struct JobInput {
    std::string path;  // for a file of a storage: its URL, as it is shown
    bool stored = false;
    std::uint64_t bytes = 0;  // of a stored file
    std::string stamp;        // of a stored file: what changes when it does; "" if the storage does not say
};

struct ListedFile {
    RankFile file;
    std::string stamp;                 // what changes when the file does; "" if that is unknown
    std::optional<std::size_t> input;  // position of a stored file among the inputs
};

// The files of folders (their own files, in name order, without hidden ones) and single files. Ranks and hosts are
// those of the names.
Result<std::vector<ListedFile>> list_rank_files(std::span<const JobInput> inputs, const RankNames& names);

// The rank in "trace.rank-00012.json.gz" or "n17-r00012.gpuprof"; absent if there is none.
std::optional<std::int32_t> rank_in_name(const std::string& name);

}  // namespace gpuprof::cli
