// The files of a job: one or more of each rank, and what their names say of rank and host.
#pragma once

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

// The files of folders (their own files, in name order, without hidden ones) and single files. Ranks and hosts are
// those of the names.
Result<std::vector<RankFile>> list_rank_files(std::span<const std::string> paths, const RankNames& names);

// The rank in "trace.rank-00012.json.gz" or "n17-r00012.gpuprof"; absent if there is none.
std::optional<std::int32_t> rank_in_name(const std::string& name);

}  // namespace gpuprof::cli
