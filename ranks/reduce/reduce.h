// Reduces the recording of one rank to the tables rank, rank_group, rank_step, rank_kernel, rank_collective and rank_call. Everything
// across ranks works on these rows; they are small, and can be written as a capture and kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/facts/facts.h"
#include "core/model/build/trace_builder.h"
#include "core/schema/column_selection.h"

namespace gpuprof::inline ranks {

// What is known of a rank besides its recording.
struct RankFile {
    std::string path;
    std::uint64_t bytes = 0;
    std::optional<std::int32_t> rank;  // of its name or place; the recording's own rank comes first
    std::string host, host_from;       // used if the recording names none
    bool cut = false;
    std::string reason;  // why it is cut
};

// The columns that the functions below read.
const ColumnSelection& reduced_columns();

// Absent if neither the recording nor `file` names a rank.
std::optional<std::int32_t> rank_of(const Trace& trace, const RankFile& file);

// Adds the rows to `into`.
void reduce_rank(const Facts& facts, const RankFile& file, std::int32_t rank, Batch& into);

}  // namespace gpuprof::ranks
