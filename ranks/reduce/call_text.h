// Calls of collectives in words, and how calls differ that should be one collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/reduce/calls.h"

namespace gpuprof::inline ranks {

// "rank 3", "ranks 0-2,5", "this rank".
std::string ranks_text(const RankList& ranks);

// The larger of input and output; absent if unknown.
std::optional<std::int64_t> elements_of(const RankCall& call);

// "all_reduce of 1024 Float", with what is known.
std::string with_message(const RankCall& call);

// "all_reduce", "send 1->2".
std::string name_with_ends(const RankCall& call);

// What the other rank of a send or receive must call; a collective unchanged.
RankCall other_end(RankCall call);

// "all_reduce 57 of group default_pg (0-7)", "send 1->2 of group pp (1,2)".
std::string collective_text(const RankCalls& calls, const RankCall& call);

// "train (train.py:88)": the innermost frame that is not PyTorch's, with the whole path or without folders; "" if the
// stack was not recorded.
enum class PathForm { whole, name };
std::string called_at(std::string_view stack, PathForm form);

// "2026-11-22 15:00:42 UTC".
std::string time_text(TimeNs time);

// Whether calls that one number brings together are one collective. Ranks that call different ones, in another order or
// with other sizes, hang or compute nonsense.
//
// Of the calls of a group with one number, by rank and in order: who differs, as a sentence without an end; "" if nobody
// does. Sizes are compared where they must be equal: not for gathers, scatters, and all-to-alls.
std::string mismatch_of(const std::vector<const RankCall*>& calls);

// Of a send and its receive; "" unless both are there and differ.
std::string mismatch_of_pair(const std::vector<const RankCall*>& ends);

}  // namespace gpuprof::ranks
