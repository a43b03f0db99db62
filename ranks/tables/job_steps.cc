// `job_steps`: one row per step of a distributed job, from the end of the step before to its own end, on the common
// clock. slowdown is what the step takes in the replay, over what it would take if every rank and transfer were as its
// peers are.
#include <algorithm>
#include <map>

#include "analyze/tables/cells.h"
#include "ranks/job/job.h"
#include "ranks/price/peers.h"
#include "ranks/price/stragglers.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/tables/rank_row_cells.h"

namespace gpuprof::inline ranks {
namespace {

constexpr ResultColumn kJobStepsColumns[] = {
    {"step", CellType::integer, Unit::none, "Number of the step."},
    {"ranks", CellType::integer, Unit::count, "Ranks that recorded it."},
    {"dur_ns", CellType::integer, Unit::ns,
     "Its length in the replay of the recording, in which unexplained gaps count as nothing."},
    {"ideal_ns", CellType::integer, Unit::ns, "Its length if every rank and transfer were as its peers."},
    {"slowdown", CellType::real, Unit::none, "dur over ideal."},
    {"slowest_rank", CellType::integer, Unit::none,
     "The rank with most time of its own (compute, copies, input, host) above its peers."},
    {"excess_ns", CellType::integer, Unit::ns, "That time."},
    {"compute_ns", CellType::integer, Unit::ns, "Compute in it."},
    {"idle_input_ns", CellType::integer, Unit::ns, "Idle in it while the host waited for input."},
    {"idle_host_ns", CellType::integer, Unit::ns, "Idle in it while the host worked or launched."},
};

Result<ResultTable> job_steps_table(const Facts& facts) {
    ResultTable table("job_steps", kJobStepsColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const Peers& peers = facts.get<Peers>();
    const Stragglers& prices = facts.get<Stragglers>();
    struct Slowest {
        std::size_t ranks = 0;
        std::uint32_t rank = kNone;
        OwnTime excess;
    };
    std::map<std::int64_t, Slowest> slowest;
    for (std::size_t i = 0; i < job.rank_steps.size(); ++i) {
        Slowest& to = slowest[job.rank_steps[i].step];
        ++to.ranks;
        if (peers.has_peers[i] && (to.rank == kNone || peers.excess[i].known() > to.excess.known())) {
            to.rank = job.rank_steps[i].rank;
            to.excess = peers.excess[i];
        }
    }
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
        const Slowest& most = slowest[job.steps[i]];
        bool priced = std::binary_search(prices.counted.begin(), prices.counted.end(), i);
        bool known = most.rank != kNone;
        auto excess = [&](DurNs value) { return known ? integer(value) : kAbsent; };
        table.add_row({integer(job.steps[i]), integer(most.ranks), priced ? integer(prices.recorded[i]) : kAbsent,
                       priced ? integer(prices.ideal[i]) : kAbsent,
                       priced ? ratio(prices.recorded[i], prices.ideal[i]) : kAbsent,
                       known ? integer(job.ranks[most.rank].rank) : kAbsent, excess(most.excess.known()),
                       excess(most.excess.compute), excess(most.excess.input), excess(most.excess.host)});
    }
    return table;
}

}  // namespace

const Analysis kJobSteps{"job_steps",
                         "",
                         "Every step of a distributed job: its length, and who was slowest.",
                         kJobStepsColumns,
                         job_steps_table,
                         {.of_job = true}};

}  // namespace gpuprof::ranks
