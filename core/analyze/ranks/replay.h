// The job as a graph of collectives, replayed with other times: before each collective a rank does its own work since
// the one that it waited for last, and its host launches it; a collective begins when its last rank arrives. Unexplained gaps of a rank count as
// zero in every replay: they may hide a wait for something that was not recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analyze/ranks/clocks.h"
#include "core/analyze/ranks/job.h"
#include "core/analyze/ranks/match.h"

namespace gpuprof {

// What a replay varies, by sync.
struct JobTimes {
    std::vector<DurNs> own;       // from the end of what it follows to its arrival
    std::vector<DurNs> least;     // of a queued sync: what it needs of that without the queue
    std::vector<DurNs> transfer;  // from the last arrival to its end; of one that did not wait, from its own arrival
    std::vector<std::uint32_t> follows;     // the sync whose end `own` counts from; kNone: none
    std::vector<DurNs> lead;                // no sync begins before its launch, which the host does this long after
    std::vector<std::uint32_t> waited_for;  // the end of this sync; kNone: not recorded
};

struct JobReplay {
    JobTimes recorded;
    std::vector<Interval> common;      // each sync on the common clock
    std::vector<TimeNs> last_arrival;  // by instance, on the common clock
    std::vector<bool> waits;           // by sync: it ended after the last rank had arrived
    std::vector<TimeNs> ends;          // of each step as it was recorded, as run() gives them

    static JobReplay make(const Facts& facts);

    // Prepares for replays in which syncs may follow or wait for what they do in `others` instead.
    void order(const RankJob& job, const MatchedJob& matched, const JobTimes& others);
    // When each step ended, by index in RankJob::steps, from the start of the job; the last entry of a job without
    // steps is its end.
    std::vector<TimeNs> run(const JobTimes& times) const;

private:
    struct Node {
        std::uint32_t first, count;  // in order_members_
    };
    std::vector<Node> nodes_;  // in an order in which every node comes after those that its ranks waited for
    std::vector<std::uint32_t> members_, before_;
    std::vector<TimeNs> start_;           // of syncs that follow nothing
    std::vector<std::uint32_t> step_of_;  // index of the step
    std::size_t steps_ = 0;
};

// The length of each step from its ends; the first one begins at 0.
std::vector<DurNs> lengths_of(const std::vector<TimeNs>& ends);

}  // namespace gpuprof
