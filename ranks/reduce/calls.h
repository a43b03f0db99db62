// What dumps of flight recorders say of a job: which collectives each rank called, and how far each has come. Of one dump
// alone, its rank is the only one; its number is kUnknownRank if nothing names it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text/rank_list.h"
#include "core/model/build/trace_builder.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline ranks {

inline constexpr std::int32_t kUnknownRank = -1;

// How far a call has come. `called`: whether it began is not recorded.
enum class CallState : std::uint8_t { scheduled, called, started, completed };

struct RankCall {
    std::int32_t rank = kUnknownRank;
    std::int64_t group = -1;  // id; -1: unknown
    std::int64_t call = -1;   // number among all calls of its rank
    std::int64_t seq = -1;    // number in its group; a send or receive counts the rank's own
    std::string_view name, type, stack;
    std::optional<std::int64_t> in_elements, out_elements, bytes;
    std::int32_t from = -1, to = -1;  // ranks, of a send or receive
    CallState state = CallState::completed;
    std::optional<TimeNs> created;  // by the rank's own clock

    bool is_open() const { return state != CallState::completed; }
    bool is_pair() const { return name == "send" || name == "recv"; }
};

struct CallGroup {
    std::string label;       // "default_pg (0-7)"
    RankList ranks;          // empty if unknown
    bool all_ranks = false;  // the ranks are unknown, but these are all of the job
};

// Numbers of a rank's collectives of one group, as far as its buffer goes back.
struct CallRange {
    std::int64_t first, last;
};

struct CallingRank {
    bool dump = false;
    std::int64_t lost = 0;  // calls that had left its buffer
};

struct RankCalls {
    std::map<std::int32_t, CallingRank> ranks;
    std::map<std::int64_t, CallGroup> groups;                           // by id
    std::map<std::pair<std::int64_t, std::int32_t>, CallRange> ranges;  // by group and rank
    std::vector<RankCall> calls;                                        // by rank, then in order
    std::shared_ptr<const Trace> of_one_dump;                           // what the texts refer to, or null

    // Whether there is any dump.
    bool any() const;
    static RankCalls make(const Facts& facts);
};

// Whether the recording is a dump: it has collectives with states, or the flight recorder wrote it before any.
bool is_flight_dump(const Trace& trace);

// The rows of tables rank_call and rank_group for a dump. Of each group all open calls are kept, and the last
// completed ones: what other ranks wait for is among them or after them.
void reduce_calls(const Trace& dump, std::int32_t rank, Batch& into);

// Calls in the dump, and those that had left the buffer.
struct CallCounts {
    std::int64_t calls = 0, lost = 0;
};
CallCounts count_calls(const Trace& dump);

}  // namespace gpuprof::ranks
