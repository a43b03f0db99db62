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

namespace gpuprof::inline ranks {
namespace {

struct RankSums {
    std::vector<std::int64_t> lengths;
    OwnTime own;
    DurNs exposed = 0;
    Intervals waits;        // may overlap: a send and a receive wait at once
    bool compared = false;  // its arrivals, with those of another rank
};

struct RanksRow {
    Cell status, reason;
    const RankSums& sums;
    // Null of a file that could not be given a rank.
    const Job::Rank* rank = nullptr;
    const ClockFit* clock = nullptr;
    const Straggler* price = nullptr;  // also null without a price
    std::string_view host = {}, place = {};
    std::optional<std::int64_t> median_length = {};

    Cell per_step(DurNs value) const {
        return sums.lengths.empty() ? kAbsent
                                    : real(static_cast<double>(value) / static_cast<double>(sums.lengths.size()));
    }
};

constexpr auto kRanksColumns = columns_of<RanksRow>({
    {"rank", CellType::integer, Unit::none, "Rank in the job.",
     [](auto& r) { return r.rank == nullptr ? kAbsent : integer(r.rank->rank); }},
    {"host", CellType::text, Unit::none, "Its host; inferred from clocks that agree if the recording names none.",
     [](auto& r) { return text_cell(r.host); }},
    {"place", CellType::text, Unit::none,
     "Its place in a server of several workers: dp (replica), pp (stage), tp and ep (shard), if the title of its "
     "process "
     "or the name of its file says.",
     [](auto& r) { return text_cell(r.place); }},
    {"status", CellType::text, Unit::none, "whole, cut, unreadable or missing.", [](auto& r) { return r.status; }},
    {"steps", CellType::integer, Unit::count, "Steps in its recording.",
     [](auto& r) { return r.rank == nullptr || r.rank->excluded ? kAbsent : integer(r.sums.lengths.size()); }},
    {"step_p50_ns", CellType::integer, Unit::ns, "Median length of its steps.",
     [](auto& r) { return r.median_length; }},
    {"compute_ns", CellType::real, Unit::ns, "Compute per step.",
     [](auto& r) { return r.per_step(r.sums.own.compute); }},
    {"exposed_comm_ns", CellType::real, Unit::ns, "Collectives without compute per step: waiting and transfer.",
     [](auto& r) { return r.per_step(r.sums.exposed); }},
    {"wait_ns", CellType::real, Unit::ns,
     "Waiting for other ranks per step, as far as it is above the clocks' error; absent if no time could be compared.",
     [](auto& r) { return r.sums.compared ? r.per_step(length(unite(r.sums.waits))) : kAbsent; }},
    {"copy_ns", CellType::real, Unit::ns, "Copies per step, without kernels.",
     [](auto& r) { return r.per_step(r.sums.own.copy); }},
    {"idle_input_ns", CellType::real, Unit::ns, "Idle per step while its host waited for input.",
     [](auto& r) { return r.per_step(r.sums.own.input); }},
    {"idle_host_ns", CellType::real, Unit::ns,
     "Idle per step while its host worked or launched; of a job without a GPU, all other time outside collectives.",
     [](auto& r) { return r.per_step(r.sums.own.host); }},
    {"idle_unknown_ns", CellType::real, Unit::ns, "Idle per step without a recorded cause.",
     [](auto& r) { return r.per_step(r.sums.own.unknown); }},
    {"cost_ns", CellType::real, Unit::ns,
     "What a step would gain if this rank were as its peers; only of ranks that are slower.",
     [](auto& r) { return r.price == nullptr ? kAbsent : real(r.price->cost_ns); }},
    {"alone_ns", CellType::real, Unit::ns, "What it would cost a step if all others were fixed.",
     [](auto& r) { return r.price == nullptr ? kAbsent : real(r.price->alone_ns); }},
    {"clock_error_ns", CellType::real, Unit::ns,
     "Error of its times on the common clock; absent if they could not be aligned.",
     [](auto& r) { return r.clock != nullptr && r.clock->aligned ? real(r.clock->error_ns) : kAbsent; }},
    {"reason", CellType::text, Unit::none,
     "Why it is cut, unreadable or missing, or which other steps than most ranks it recorded.",
     [](auto& r) { return r.reason; }},
});

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
    for (std::size_t i = 0; i < job.collectives.size(); ++i) {
        sums[job.collectives[i].rank].compared |= waits.known[i];
        if (waits.wait[i] > 0)
            sums[job.collectives[i].rank].waits.push_back(
                {job.collectives[i].span.start, job.collectives[i].span.start + waits.wait[i]});
    }
    std::map<std::int32_t, std::string_view> other_steps;
    for (const OtherSteps& each : facts.get<StepsOfRanks>().others) other_steps.emplace(each.rank, each.text);
    std::map<std::uint32_t, const Straggler*> prices;
    for (const Straggler& unit : facts.get<Stragglers>().units)
        if (unit.kind == UnitKind::rank) prices.try_emplace(unit.index, &unit);
    for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
        const Job::Rank& rank = job.ranks[i];
        RankSums& sum = sums[i];
        auto price = prices.find(i);
        std::optional<std::int64_t> median;
        if (!sum.lengths.empty()) {
            auto middle = sum.lengths.begin() + static_cast<std::ptrdiff_t>((sum.lengths.size() - 1) / 2);
            std::nth_element(sum.lengths.begin(), middle, sum.lengths.end());
            median = *middle;
        }
        const JobHost& host = hosts.hosts[hosts.of_rank[i]];
        RanksRow row{
            .status = text_cell(trace, rows.status.value_or(rank.row, kNoString)),
            .reason =
                rows.reason.has(rank.row) ? text_cell(trace, rows.reason[rank.row]) : text_cell(other_steps[rank.rank]),
            .sums = sum,
            .rank = &rank,
            .clock = &clocks.clocks[rank.clock],
            .price = price == prices.end() ? nullptr : price->second,
            .host = host.inferred && host.ranks.size() < 2 ? "" : std::string_view(host.name),
            .place = trace.text(rows.place.value_or(rank.row, kNoString)),
            .median_length = median,
        };
        table.add(kRanksColumns, row);
    }
    // Files that could not even be given a rank.
    const RankSums nothing;
    for (Row row = 0; row < rows.rows; ++row) {
        if (rows.rank.has(row)) continue;
        RanksRow of_file{
            .status = text_cell(trace, rows.status.value_or(row, kNoString)),
            .reason = text_cell(trace, rows.reason.value_or(row, kNoString)),
            .sums = nothing,
        };
        table.add(kRanksColumns, of_file);
    }
    return table;
}

}  // namespace

const Analysis kRanks{"ranks",       "",          "Every rank of a distributed job: its steps, waits and price.",
                      kRanksColumns, ranks_table, {.of_job = true}};

}  // namespace gpuprof::ranks
