// A collective that hangs, as a row of `Hangs` (hangs.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/reduce/calls.h"

namespace gpuprof::inline ranks {

enum class HangCause : std::uint8_t {
    mismatch,   // ranks called different collectives by one number
    missing,    // a rank never called it, and waits for nothing recorded
    cycle,      // its ranks wait for each other in several groups
    waits,      // a missing rank sits in another row
    behind,     // an earlier collective of the group must complete first
    undecided,  // nobody is known to be missing, but dumps or calls are
    nobody,     // all of its ranks called it
};
// "mismatch", "missing rank", "cycle", "waits for another", "behind another", "unknown", "all called it".
std::string_view name_of(HangCause cause);

struct Hang {
    std::int64_t group = -1;  // id
    std::int64_t seq = -1;
    const RankCall* call = nullptr;  // of a rank that waits, or of one that disagrees
    HangCause cause = HangCause::nobody;
    bool root = false;
    RankList missing, not_begun, waiting, completed, no_dump, unknown;  // waiting: called, begun or perhaps begun
    RankList culprits;                                                  // missing, and in no other open collective
    std::string mismatch;
    std::vector<std::size_t> waits_for;  // rows of Hangs
    std::size_t dependents = 0;          // rows that wait for it, directly or not
    std::optional<TimeNs> since;         // first call, by that rank's own clock
};

}  // namespace gpuprof::ranks
