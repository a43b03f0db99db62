// The identity of a process group, the same on all of its ranks. Names of groups are counters or hashes that may differ
// between ranks, and two groups may share one, so the ranks themselves are used where they are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/trace.h"

namespace gpuprof::inline ranks {

struct GroupKey {
    std::string text;       // ranks and description; else communicator and size; else name and size
    std::int64_t size = 0;  // ranks in the group; 0: unknown
    bool of_communicator = false;

    // FNV-1a of the text: the same on every platform and in every version. Not negative.
    std::int64_t id() const;
};

// The group of a row of table collective; absent if nothing names it.
std::optional<GroupKey> group_key(const Trace& trace, Row record);

// The description of a group that a communicator of NCCL identifies: its ranks are not recorded, and sends and receives
// count ranks in it.
inline constexpr std::string_view kCommunicator = "communicator";

// Gloo does not say which group a collective is of, nor did older versions of PyTorch with NCCL. All ranks are assumed;
// collectives of other groups do not fit then. A description that goes on is that of one of several such groups.
inline constexpr std::string_view kAssumedWorld = "all ranks (assumed)";
GroupKey assumed_world(std::string_view description, std::int64_t size);

}  // namespace gpuprof::ranks
