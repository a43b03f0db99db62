// The ranks of a job, read from the tables that reduce.h fills: each rank's collectives as rows that refer to each
// other by index. Rows that cannot be used (no rank, an impossible time) are skipped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/knowledge/collective_name.h"
#include "core/model/interval.h"
#include "core/model/trace.h"
#include "ranks/reduce/own_time.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline ranks {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

struct Job {
    // Recorders do not write events in order of time, so any step of a cut file may lack some.
    struct Rank {
        std::int32_t rank = 0;
        Row row = kNoRow;         // of table rank
        std::uint32_t clock = 0;  // index in Job::clocks: its host, or itself where that is unknown (hosts.h)
        std::uint32_t first = 0;  // its collectives: first, first + 1, ... in time order
        std::uint32_t collectives = 0;
        std::optional<std::int32_t> device;  // its only GPU, as the machine counts them
        std::optional<std::int32_t> stage;   // of a pipeline, by its place in a server
        bool present = false;                // its recording counts
        bool excluded = false;               // it does not, because it is cut, and most others are whole
    };

    struct Clock {
        std::string name;  // of the host; "rank 7" where it is unknown
        bool host = false;
        std::vector<std::uint32_t> ranks;
    };

    struct Group {
        std::int64_t id = 0;
        std::string description, ranks_text;
        std::vector<std::int32_t> ranks;  // empty if unknown
        std::int32_t size = 0;
        bool pairs = false;    // sends and receives
        bool assumed = false;  // nothing names it: all ranks are assumed
        bool several = false;  // and ranks have several such groups, so it may be another one
        // A communicator whose ranks are those that recorded it, in ascending order, if all did.
        bool communicator = false;
        bool shared = false;  // more ranks recorded it than it has: several groups of one name
    };

    // One send or receive; -1: an unknown end or size.
    struct Transfer {
        std::int32_t from_rank = -1, to_rank = -1;
        std::int64_t bytes = -1;
    };

    struct Collective {
        std::uint32_t rank = 0;  // index in Job::ranks
        std::int64_t step = -1;  // its number
        std::uint32_t group = kNone;
        std::uint32_t overlapped =
            0;  // what the rank did from the end of `wait_before` to its end, in ns; at most 4.3 s
        std::optional<std::int64_t> seq;
        CollectiveKind kind = CollectiveKind::unknown;
        bool queued = false;          // it began when `before` ended
        std::uint16_t transfers = 0;  // of sends and receives: Job::transfers[first_transfer] ...
        std::uint32_t first_transfer = 0;
        std::int64_t bytes = -1;
        Interval span;                      // by the rank's own clock
        std::uint32_t follows = kNone;      // the collective that its work waited for last; `own` counts from its end
        std::uint32_t wait_before = kNone;  // the collective that work waited for last before this one ended
        std::uint32_t before = kNone;       // the one before on its stream
        OwnTime own;
        // The collective that had ended last when the host last waited for the device, and the host's time from its end until it
        // launched this one.
        std::uint32_t waited_for = kNone;
        DurNs lead = 0, lead_input = 0;
        bool is_pair() const { return kind == CollectiveKind::send_recv; }
    };

    // A rank's step: what its devices did, summed.
    struct RankStep {
        std::uint32_t rank = 0;
        std::int64_t step = 0;
        Interval window;  // by the rank's own clock
        OwnTime own;
        DurNs exposed_comm = 0;
    };

    std::vector<Rank> ranks;  // by rank
    std::vector<Clock> clocks;
    std::vector<Group> groups;
    std::vector<Collective> collectives;
    std::vector<Transfer> transfers;   // of batches
    std::vector<RankStep> rank_steps;  // by rank, then step
    std::vector<std::int64_t> steps;   // numbers that any rank recorded, ascending
    std::size_t unusable = 0;          // rows left out

    // One, or those of a batch; none of other collectives.
    std::span<const Transfer> transfers_of(const Collective& collective) const {
        return {transfers.data() + collective.first_transfer, collective.transfers};
    }
    // The index of a rank; kNone if it is unknown.
    std::uint32_t find_rank(std::int32_t number) const;
    // How many ranks recorded each of `steps`.
    std::vector<std::uint32_t> recorded_by() const;
    // A step of the rank with this index; null if it did not record it.
    const RankStep* find_step(std::uint32_t rank, std::int64_t step) const;

    static Job make(const Facts& facts);
};

// Of ranks with one clock, steps that are counted: the same numbers for the same steps.
void align_step_numbers(Job& job);

}  // namespace gpuprof::ranks
