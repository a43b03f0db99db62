// `hosts`: the clocks of a distributed job's hosts, how they were brought to one, and how sure that is
// (ranks/clocks/clocks.h).
#include "analyze/tables/cells.h"
#include "ranks/clocks/clocks.h"
#include "ranks/tables/job_analyses.h"
#include "ranks/tables/rank_row_cells.h"

namespace gpuprof::inline ranks {
namespace {

constexpr ResultColumn kHostsColumns[] = {
    {"host", CellType::text, Unit::none, "Host; a rank whose host is unknown has a clock of its own."},
    {"ranks", CellType::integer, Unit::count, "Ranks with this clock."},
    {"aligned", CellType::boolean, Unit::none,
     "Its times were brought to the common clock; else they are as recorded."},
    {"offset_ns", CellType::real, Unit::ns, "How far ahead it is in the middle of the recording."},
    {"rate_ppm", CellType::real, Unit::none, "How much faster it runs, in parts per million."},
    {"jump_ns", CellType::real, Unit::ns, "By how much it was set forward during the recording; absent if it was not."},
    {"error_ns", CellType::real, Unit::ns,
     "Error of an aligned time: 95 % of the difference between fits to two halves of the data, or what noise and an "
     "unknown rate leave open if that is more, plus the 95th percentile of the residuals."},
    {"residual_ns", CellType::real, Unit::ns,
     "Median distance of its ends of collectives from those of the other hosts after alignment."},
    {"instances", CellType::integer, Unit::count, "Collectives that it shares with other clocks and that were used."},
    {"island", CellType::integer, Unit::none, "Clocks with the same number share groups; others cannot be compared."},
};

Result<ResultTable> hosts_table(const Facts& facts) {
    ResultTable table("hosts", kHostsColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    for (std::size_t i = 0; i < job.clocks.size(); ++i) {
        const ClockFit& fit = clocks.clocks[i];
        auto known = [&](double value) { return fit.aligned ? Cell{value} : kAbsent; };
        table.add_row({text_cell(job.clocks[i].name), integer(job.clocks[i].ranks.size()), fit.aligned,
                       known(fit.offset_ns), known(fit.rate_ppm), fit.jump_ns != 0 ? Cell{fit.jump_ns} : kAbsent,
                       known(fit.error_ns), fit.instances > 0 ? Cell{fit.residual_ns} : kAbsent, integer(fit.instances),
                       integer(fit.island)});
    }
    return table;
}

}  // namespace

const Analysis kHosts{"hosts",       "",          "Clocks of a distributed job's hosts: offset, rate, error.",
                      kHostsColumns, hosts_table, {.of_job = true}};

}  // namespace gpuprof::ranks
