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

namespace gpuprof::inline ranks {
namespace {

struct SlowestRank {
    std::size_t ranks = 0;  // that recorded the step
    std::uint32_t rank = kNone;
    OwnTime excess;
};

struct JobStepsRow {
    const Job& job;
    std::int64_t step;
    const SlowestRank& most;
    std::optional<DurNs> recorded, ideal;  // if the step has a price
};

constexpr auto kJobStepsColumns = columns_of<JobStepsRow>({
    {"step", CellType::integer, Unit::none, "Number of the step.", [](auto& r) { return r.step; }},
    {"ranks", CellType::integer, Unit::count, "Ranks that recorded it.", [](auto& r) { return r.most.ranks; }},
    {"dur_ns", CellType::integer, Unit::ns,
     "Its length in the replay of the recording, in which unexplained gaps count as nothing.",
     [](auto& r) { return r.recorded; }},
    {"ideal_ns", CellType::integer, Unit::ns, "Its length if every rank and transfer were as its peers.",
     [](auto& r) { return r.ideal; }},
    {"slowdown", CellType::real, Unit::none, "dur over ideal.",
     [](auto& r) { return r.recorded && r.ideal ? ratio(*r.recorded, *r.ideal) : kAbsent; }},
    {"slowest_rank", CellType::integer, Unit::none,
     "The rank with most time of its own (compute, copies, input, host) above its peers.",
     [](auto& r) { return r.most.rank == kNone ? kAbsent : integer(r.job.ranks[r.most.rank].rank); }},
    {"excess_ns", CellType::integer, Unit::ns, "That time.",
     [](auto& r) { return r.most.rank == kNone ? kAbsent : integer(r.most.excess.known()); }},
    {"compute_ns", CellType::integer, Unit::ns, "Compute in it.",
     [](auto& r) { return r.most.rank == kNone ? kAbsent : integer(r.most.excess.compute); }},
    {"idle_input_ns", CellType::integer, Unit::ns, "Idle in it while the host waited for input.",
     [](auto& r) { return r.most.rank == kNone ? kAbsent : integer(r.most.excess.input); }},
    {"idle_host_ns", CellType::integer, Unit::ns, "Idle in it while the host worked or launched.",
     [](auto& r) { return r.most.rank == kNone ? kAbsent : integer(r.most.excess.host); }},
});

Result<ResultTable> job_steps_table(const Facts& facts) {
    ResultTable table("job_steps", kJobStepsColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const Peers& peers = facts.get<Peers>();
    const Stragglers& prices = facts.get<Stragglers>();
    std::map<std::int64_t, SlowestRank> slowest;
    for (std::size_t i = 0; i < job.rank_steps.size(); ++i) {
        SlowestRank& to = slowest[job.rank_steps[i].step];
        ++to.ranks;
        if (peers.has_peers[i] && (to.rank == kNone || peers.excess[i].known() > to.excess.known())) {
            to.rank = job.rank_steps[i].rank;
            to.excess = peers.excess[i];
        }
    }
    for (std::size_t i = 0; i < job.steps.size(); ++i) {
        JobStepsRow row{job, job.steps[i], slowest[job.steps[i]], {}, {}};
        if (std::binary_search(prices.counted.begin(), prices.counted.end(), i)) {
            row.recorded = prices.recorded[i];
            row.ideal = prices.ideal[i];
        }
        table.add(kJobStepsColumns, row);
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
