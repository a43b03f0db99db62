#include "measure/measurement.h"

#include <set>

namespace gpuprof::measure {
namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the function."},
    {"timer", CellType::text, Unit::none, "Timer: cuda events, or host (the host clock)."},
    {"device", CellType::integer, Unit::none, "Device number; absent with the host timer."},
    {"samples", CellType::integer, Unit::count, "Counted samples."},
    {"median", CellType::real, Unit::ns, "Median time of one call."},
    {"median_low", CellType::real, Unit::ns,
     "Lower end of the median's confidence interval; absent for too few samples."},
    {"median_high", CellType::real, Unit::ns, "Upper end of the median's confidence interval."},
    {"level_pct", CellType::real, Unit::percent, "Confidence level of the interval."},
    {"mean", CellType::real, Unit::ns, "Mean time of one call."},
    {"std", CellType::real, Unit::ns, "Standard deviation of the samples."},
    {"min", CellType::real, Unit::ns, "Shortest sample."},
    {"p5", CellType::real, Unit::ns, "5th percentile."},
    {"p25", CellType::real, Unit::ns, "25th percentile."},
    {"p75", CellType::real, Unit::ns, "75th percentile."},
    {"p95", CellType::real, Unit::ns, "95th percentile."},
    {"max", CellType::real, Unit::ns, "Longest sample."},
    {"noise_pct", CellType::real, Unit::percent, "Standard deviation relative to the mean."},
    {"outliers", CellType::integer, Unit::count, "Samples beyond Tukey's fences; all figures include them."},
    {"bimodal", CellType::boolean, Unit::none, "Whether samples appear to have two modes."},
    {"batch", CellType::integer, Unit::count, "Calls per sample."},
    {"cold", CellType::boolean, Unit::none, "Whether the L2 cache was overwritten before every sample."},
    {"graph", CellType::boolean, Unit::none, "Whether a CUDA graph was replayed."},
    {"blocking", CellType::boolean, Unit::none, "Whether times exclude gaps between launches."},
    {"warmup_calls", CellType::integer, Unit::count, "Calls before the first sample."},
    {"warmup_settled", CellType::boolean, Unit::none, "Whether times were stable at the end of the warm-up."},
    {"throttled", CellType::integer, Unit::count, "Samples excluded because clocks were throttled."},
    {"sm_clock_mhz", CellType::real, Unit::megahertz, "Mean SM clock."},
    {"power_w", CellType::real, Unit::watt, "Mean power of the board."},
    {"energy_per_call", CellType::real, Unit::joule, "Energy of the board per call, over all sampling."},
    {"energy_uncertainty", CellType::real, Unit::joule, "Maximum error of energy_per_call in either direction."},
    {"bytes_per_s", CellType::real, Unit::none, "Throughput of the declared bytes per call."},
    {"flop_per_s", CellType::real, Unit::flop_per_s, "FLOP per second, from the declared FLOP per call."},
    {"bytes_pct", CellType::real, Unit::percent,
     "Share of the device's peak bandwidth; absent if the peak is unknown."},
    {"flop_pct", CellType::real, Unit::percent, "Share of the device's arithmetic peak in the declared number format."},
    {"stopped", CellType::text, Unit::none, "Why sampling ended."},
};

Cell cell(std::optional<double> value) { return value ? Cell(*value) : kAbsent; }
Cell count(std::size_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

std::span<const ResultColumn> measurement_columns() { return kColumns; }

ResultTable table_of(std::span<const Measurement> measurements) {
    ResultTable table("measurements", kColumns);
    std::set<std::string> said;
    for (const Measurement& m : measurements) {
        const Statistics& s = m.statistics;
        auto end = [&](double Interval::*member) {
            return s.median_interval ? Cell((*s.median_interval).*member) : kAbsent;
        };
        Cell level = s.median_interval ? Cell(s.median_interval->level * 100) : kAbsent;
        auto of_samples = [&](double value) { return s.count > 0 ? Cell(value) : kAbsent; };
        table.add_row({std::string_view(m.name),
                       std::string_view(m.timer),
                       m.device >= 0 ? Cell(std::int64_t{m.device}) : kAbsent,
                       count(s.count),
                       of_samples(s.median),
                       end(&Interval::low),
                       end(&Interval::high),
                       level,
                       of_samples(s.mean),
                       of_samples(s.std),
                       of_samples(s.min),
                       of_samples(s.p5),
                       of_samples(s.p25),
                       of_samples(s.p75),
                       of_samples(s.p95),
                       of_samples(s.max),
                       of_samples(s.noise * 100),
                       count(s.outliers_low + s.outliers_high),
                       s.bimodal,
                       m.batch,
                       m.cold,
                       m.graph,
                       m.blocking,
                       count(m.warmup.calls),
                       m.warmup.settled,
                       count(m.throttled_left_out),
                       cell(m.conditions.sm_clock_mhz),
                       cell(m.conditions.power_w),
                       cell(m.energy_per_call_j),
                       cell(m.energy_per_call_uncertainty_j),
                       cell(m.bytes_per_s),
                       cell(m.flop_per_s),
                       cell(m.bytes_pct),
                       cell(m.flop_pct),
                       name_of(m.stopped)});
        for (const std::string& note : m.notes)
            if (said.insert(m.name + note).second) table.notes.push_back(m.name + ": " + note);
    }
    return table;
}

}  // namespace gpuprof::measure
