// What is normal at each point of a step: the median over the peers, the ranks that do the same in that step. Peers
// take part in the same kinds of groups in the same way; stages of a pipeline differ by design and are no peers. With
// fewer than four peers the rank is compared with itself in its other steps.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ranks/job/job.h"
#include "ranks/price/replay.h"
#include "ranks/reduce/own_time.h"

namespace gpuprof::inline ranks {

struct Peers {
    JobTimes times;                      // by collective: as its peers are; what it follows there, in most of them
    ReplayOrder order;                   // of replays with any mixture of these times and the recorded ones
    std::vector<std::uint8_t> by_peers;  // by collective; 0: by the rank's other steps
    std::vector<std::uint32_t> role;     // by collective: equal for ranks that do the same in that step
    // By MatchedJob::instances: the same number for transfers that should take the same time; kNone if not all ranks are known.
    std::vector<std::uint32_t> equal_transfers;
    // By collective: how long it may have waited for ranks whose recording of this step there is not: what the transfer takes
    // longer than equal ones whose ranks are all known, or all of it without such.
    std::vector<DurNs> waits_for_absent;
    // Indices in Job::rank_steps of ranks that do the same in a step, by step and role.
    std::map<std::pair<std::int64_t, std::uint32_t>, std::vector<std::uint32_t>> equal_steps;
    // By Job::rank_steps: what the rank did more than the median of its peers. Absent parts are 0.
    std::vector<OwnTime> excess;
    std::vector<bool> has_peers;  // of a rank's step
    // How much later than by its peers' hosts the step's collectives were launched, at most, whether or not the device
    // had to wait: input and host only.
    std::vector<OwnTime> late;
    // Between the 35th and the 65th percentile of the peers' own times in a step, the median over steps. If it is large,
    // about half of the peers are slower than the others, and no median can tell which half is right.
    DurNs spread = 0;

    static Peers make(const Facts& facts);
};

// Sets what there is of transfers. For peers.cc only.
void set_usual_transfers(const Job& job, const MatchedJob& matched, const JobReplay& replay, Peers& peers);

}  // namespace gpuprof::ranks
