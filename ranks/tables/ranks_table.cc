// `ranks`: one row per rank of a distributed job, also for those that are missing or unreadable. Times are means per
// step; waiting and transfer come from the collectives that were found on several ranks.
#include <algorithm>
#include <map>

#include "analyze/tables/cells.h"
#include "ranks/clocks/clocks.h"
#include "ranks/job/job.h"
#include "ranks/pages/steps_of_ranks.h"
#include "ranks/price/rank_waits.h"
#include "ranks/price/stragglers.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/tables/rank_row_cells.h"

namespace gpuprof::inline ranks {
namespace {

constexpr ResultColumn kRanksColumns[] = {
    {"rank", CellType::integer, Unit::none, "Rank in the job."},
    {"host", CellType::text, Unit::none, "Its host; inferred from clocks that agree if the recording names none."},
    {"status", CellType::text, Unit::none, "whole, cut, unreadable or missing."},
    {"steps", CellType::integer, Unit::count, "Steps in its recording."},
    {"step_p50_ns", CellType::integer, Unit::ns, "Median length of its steps."},
    {"compute_ns", CellType::real, Unit::ns, "Compute per step."},
    {"exposed_comm_ns", CellType::real, Unit::ns, "Collectives without compute per step: waiting and transfer."},
    {"wait_ns", CellType::real, Unit::ns,
     "Waiting for other ranks per step, as far as it is above the clocks' error; absent if no time could be compared."},
    {"copy_ns", CellType::real, Unit::ns, "Copies per step, without kernels."},
    {"idle_input_ns", CellType::real, Unit::ns, "Idle per step while its host waited for input."},
    {"idle_host_ns", CellType::real, Unit::ns,
     "Idle per step while its host worked or launched; of a job without a GPU, all other time outside collectives."},
    {"idle_unknown_ns", CellType::real, Unit::ns, "Idle per step without a recorded cause."},
    {"cost_ns", CellType::real, Unit::ns,
     "What a step would gain if this rank were as its peers; only of ranks that are slower."},
    {"alone_ns", CellType::real, Unit::ns, "What it would cost a step if all others were fixed."},
    {"clock_error_ns", CellType::real, Unit::ns,
     "Error of its times on the common clock; absent if they could not be aligned."},
    {"reason", CellType::text, Unit::none,
     "Why it is cut, unreadable or missing, or which other steps than most ranks it recorded."},
};

struct RankSums {
    std::vector<std::int64_t> lengths;
    OwnTime own;
    DurNs exposed = 0;
    Intervals waits;        // may overlap: a send and a receive wait at once
    bool compared = false;  // its arrivals, with those of another rank
};

Result<ResultTable> ranks_table(const Facts& facts) {
    ResultTable table("ranks", kRanksColumns);
    const Trace& trace = facts.trace();
    const RankTable& rows = trace.tables().rank;
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const JobHosts& hosts = facts.get<JobHosts>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    const RankWaits& waits = facts.get<RankWaits>();
    std::vector<RankSums> sums(job.ranks.size());
    for (const Job::RankStep& step : job.rank_steps) {
        RankSums& to = sums[step.rank];
        to.lengths.push_back(step.window.length());
        for (DurNs OwnTime::*part :
             {&OwnTime::compute, &OwnTime::copy, &OwnTime::input, &OwnTime::host, &OwnTime::unknown})
            to.own.*part += step.own.*part;
        to.exposed += step.exposed_comm;
    }
    for (std::size_t i = 0; i < job.syncs.size(); ++i) {
        sums[job.syncs[i].rank].compared |= waits.known[i];
        if (waits.wait[i] > 0)
            sums[job.syncs[i].rank].waits.push_back({job.syncs[i].span.start, job.syncs[i].span.start + waits.wait[i]});
    }
    std::map<std::int32_t, std::string_view> other_steps;
    for (const OtherSteps& each : facts.get<StepsOfRanks>().others) other_steps.emplace(each.rank, each.text);
    std::map<std::uint32_t, const Straggler*> prices;
    for (const Straggler& unit : facts.get<Stragglers>().units)
        if (unit.kind == UnitKind::rank) prices.try_emplace(unit.index, &unit);
    for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
        const Job::Rank& rank = job.ranks[i];
        RankSums& sum = sums[i];
        auto steps = static_cast<double>(sum.lengths.size());
        auto mean = [&](DurNs value) {
            return sum.lengths.empty() ? kAbsent : Cell{static_cast<double>(value) / steps};
        };
        auto price = prices.find(i);
        std::int64_t median = 0;
        if (!sum.lengths.empty()) {
            auto middle = sum.lengths.begin() + static_cast<std::ptrdiff_t>((sum.lengths.size() - 1) / 2);
            std::nth_element(sum.lengths.begin(), middle, sum.lengths.end());
            median = *middle;
        }
        const JobHost& host = hosts.hosts[hosts.of_rank[i]];
        const ClockFit& clock = clocks.clocks[rank.clock];
        table.add_row(
            {integer(rank.rank), host.inferred && host.ranks.size() < 2 ? kAbsent : text_cell(host.name),
             text_cell(trace, rows.status.value_or(rank.row, kNoString)),
             rank.excluded ? kAbsent : integer(sum.lengths.size()), sum.lengths.empty() ? kAbsent : integer(median),
             mean(sum.own.compute), mean(sum.exposed), sum.compared ? mean(length(unite(sum.waits))) : kAbsent,
             mean(sum.own.copy), mean(sum.own.input), mean(sum.own.host), mean(sum.own.unknown),
             price == prices.end() ? kAbsent : Cell{price->second->cost_ns},
             price == prices.end() ? kAbsent : Cell{price->second->alone_ns},
             clock.aligned ? Cell{clock.error_ns} : kAbsent,
             rows.reason.has(rank.row) ? text_cell(trace, rows.reason[rank.row]) : text_cell(other_steps[rank.rank])});
    }
    // Files that could not even be given a rank.
    for (Row row = 0; row < rows.rows; ++row) {
        if (rows.rank.has(row)) continue;
        std::vector<Cell> cells(std::size(kRanksColumns), kAbsent);
        cells[2] = text_cell(trace, rows.status.value_or(row, kNoString));
        cells[std::size(kRanksColumns) - 1] = text_cell(trace, rows.reason.value_or(row, kNoString));
        table.add_row(cells);
    }
    return table;
}

}  // namespace

const Analysis kRanks{"ranks",       "",          "Every rank of a distributed job: its steps, waits and price.",
                      kRanksColumns, ranks_table, {.of_job = true}};

}  // namespace gpuprof::ranks
