// `hosts`: the clocks of a distributed job's hosts, how they were brought to one, and how sure that is
// (ranks/clocks/clocks.h).
#include "analyze/tables/cells.h"
#include "ranks/clocks/clocks.h"
#include "ranks/tables/job_analyses.h"

namespace gpuprof::inline ranks {
namespace {

struct HostsRow {
    const Job::Clock& clock;
    const ClockFit& fit;

    Cell if_aligned(double value) const { return fit.aligned ? real(value) : kAbsent; }
};

constexpr auto kHostsColumns = columns_of<HostsRow>({
    {"host", CellType::text, Unit::none, "Host; a rank whose host is unknown has a clock of its own.",
     [](auto& r) { return text_cell(r.clock.name); }},
    {"ranks", CellType::integer, Unit::count, "Ranks with this clock.", [](auto& r) { return r.clock.ranks.size(); }},
    {"aligned", CellType::boolean, Unit::none, "Its times were brought to the common clock; else they are as recorded.",
     [](auto& r) { return r.fit.aligned; }},
    {"offset_ns", CellType::real, Unit::ns, "How far ahead it is in the middle of the recording.",
     [](auto& r) { return r.if_aligned(r.fit.offset_ns); }},
    {"rate_ppm", CellType::real, Unit::none, "How much faster it runs, in parts per million.",
     [](auto& r) { return r.if_aligned(r.fit.rate_ppm); }},
    {"jump_ns", CellType::real, Unit::ns, "By how much it was set forward during the recording; absent if it was not.",
     [](auto& r) { return r.fit.jump_ns != 0 ? real(r.fit.jump_ns) : kAbsent; }},
    {"error_ns", CellType::real, Unit::ns,
     "Error of an aligned time: 95 % of the difference between fits to two halves of the data, or what noise and an "
     "unknown rate leave open if that is more, plus the 95th percentile of the residuals.",
     [](auto& r) { return r.if_aligned(r.fit.error_ns); }},
    {"residual_ns", CellType::real, Unit::ns,
     "Median distance of its ends of collectives from those of the other hosts after alignment.",
     [](auto& r) { return r.fit.instances > 0 ? real(r.fit.residual_ns) : kAbsent; }},
    {"instances", CellType::integer, Unit::count, "Collectives that it shares with other clocks and that were used.",
     [](auto& r) { return r.fit.instances; }},
    {"island", CellType::integer, Unit::none, "Clocks with the same number share groups; others cannot be compared.",
     [](auto& r) { return r.fit.island; }},
});

Result<ResultTable> hosts_table(const Facts& facts) {
    ResultTable table("hosts", kHostsColumns);
    if (!has_ranks(facts, table)) return table;
    const Job& job = facts.get<Job>();
    const AlignedClocks& clocks = facts.get<AlignedClocks>();
    for (std::size_t i = 0; i < job.clocks.size(); ++i) table.add(kHostsColumns, {job.clocks[i], clocks.clocks[i]});
    return table;
}

}  // namespace

const Analysis kHosts{"hosts",       "",          "Clocks of a distributed job's hosts: offset, rate, error.",
                      kHostsColumns, hosts_table, {.of_job = true}};

}  // namespace gpuprof::ranks
