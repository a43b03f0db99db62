// Where a job hangs: the collectives that some of their ranks called and not all completed, by the dumps of its flight
// recorders. A rank is missing in a collective if its own calls in that group end before it. No times are compared.
//
// A collective may only wait for another one: its missing rank sits there. Such rows point at each other (`waits_for`),
// and those that nothing recorded explains are the roots. A rank is not blamed without evidence: one without a dump is
// `no_dump`, and one whose calls may have left the recorder's buffer is `unknown`.
//
// Sends and receives have no number in common. An open one whose other end has no open counterpart (counted in order)
// waits for that rank.
#pragma once

#include <cstddef>
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
    none,       // all of its ranks called it
};
// "mismatch", "missing rank", "cycle", "waits for another", "behind another", "unknown", "all called it".
std::string_view name_of(HangCause cause);

// A collective that hangs.
struct Hang {
    std::int64_t group = -1;  // id
    std::int64_t seq = -1;
    const RankCall* call = nullptr;  // of a rank that waits, or of one that disagrees
    HangCause cause = HangCause::none;
    bool root = false;
    RankList missing, not_begun, waiting, completed, no_dump, unknown;  // waiting: called, begun or perhaps begun
    RankList culprits;                                                  // missing, and in no other open collective
    std::string mismatch;
    std::vector<std::size_t> waits_for;  // rows of Hangs
    std::size_t dependents = 0;          // rows that wait for it, directly or not
    std::optional<TimeNs> since;         // first call, by that rank's own clock
};

struct Hangs {
    RankCalls calls;
    std::vector<Hang> rows;             // roots first, those that most wait for before others
    std::vector<std::size_t> in_cycle;  // the rows of one cycle, in order, if there is a root of that cause

    // The last call of a rank; null if its dump has none.
    const RankCall* last_of(std::int32_t rank) const;
    static Hangs make(const Facts& facts);
};

}  // namespace gpuprof::ranks
