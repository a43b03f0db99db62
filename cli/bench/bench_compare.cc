// Benchmarks are paired by name; if each side has a single one, they are paired whatever their names. Several of one name
// are runs of it in different processes. Times that mean
// different things (another timer, another cache state, a graph on one side only) are not compared: the verdict is
// `cannot tell`. A different machine or device does not prevent a comparison; a note says so.
#include "cli/bench/bench_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/base/text/close_match.h"

namespace gpuprof::inline cli {

std::optional<BenchEnergy> energy_of(const measure::Benchmark& benchmark) {
    const measure::Measurement& m = benchmark.measurement;
    if (!benchmark.program) {
        if (!m.energy_per_call_j || !m.energy_per_call_uncertainty_j || !(*m.energy_per_call_j > 0))
            return std::nullopt;
        return BenchEnergy{*m.energy_per_call_j, *m.energy_per_call_uncertainty_j};
    }
    BenchEnergy sum;
    for (const measure::ProgramDevice& device : benchmark.program->devices) {
        if (!device.energy_j || !device.energy_uncertainty_j) return std::nullopt;
        sum.joules += *device.energy_j;
        sum.off += *device.energy_uncertainty_j;
    }
    return sum.joules > 0 ? std::optional(sum) : std::nullopt;
}

EnergyChange change_of(const BenchEnergy& baseline, const BenchEnergy& candidate) {
    auto pct = [](double next, double base) { return 100 * (next / base - 1); };
    EnergyChange change{.pct = pct(candidate.joules, baseline.joules), .low_pct = {}, .high_pct = {}};
    if (baseline.off < baseline.joules) {
        change.low_pct = pct(candidate.joules - candidate.off, baseline.joules + baseline.off);
        change.high_pct = pct(candidate.joules + candidate.off, baseline.joules - baseline.off);
    }
    return change;
}

std::string to_text(const BenchEnergy& baseline, const BenchEnergy& candidate, std::string_view per) {
    EnergyChange change = change_of(baseline, candidate);
    std::string text = fmt::format("{:.3g} J instead of {:.3g} J per {} ({:+.1f} %", candidate.joules, baseline.joules,
                                   per, change.pct);
    if (change.low_pct) text += fmt::format(", {:+.1f} to {:+.1f} %", *change.low_pct, *change.high_pct);
    return text + (change.is_open() ? "; the uncertainty of the sensors leaves open which needs less)" : ")");
}

namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "Name of the benchmark."},
    {"verdict", CellType::text, Unit::none,
     "Verdict on the candidate: faster, slower, same or cannot tell; absent if one side lacks the benchmark."},
    {"baseline", CellType::real, Unit::ns, "Median time of the baseline."},
    {"candidate", CellType::real, Unit::ns, "Median time of the candidate."},
    {"speedup", CellType::real, Unit::none, "Baseline time divided by candidate time."},
    {"speedup_low", CellType::real, Unit::none, "Lower end of its 95 % interval."},
    {"speedup_high", CellType::real, Unit::none, "Upper end of its 95 % interval."},
    {"change_pct", CellType::real, Unit::percent, "Change of the median time; negative is faster."},
    {"reason", CellType::text, Unit::none, "Reason for the verdict."},
    {"baseline_j", CellType::real, Unit::joule,
     "Energy per call or run of the baseline; absent if it was not measured."},
    {"candidate_j", CellType::real, Unit::joule, "Energy per call or run of the candidate."},
    {"energy_change_pct", CellType::real, Unit::percent,
     "Change of the energy; negative needs less. A note has its uncertainty."},
};

// The runs of one benchmark on one side: a document has one entry for each.
using RunsOfOne = std::vector<const measure::Benchmark*>;

RunsOfOne find(const measure::BenchDocument& document, const std::string& name) {
    RunsOfOne found;
    for (const measure::Benchmark& each : document.benchmarks)
        if (each.measurement.name == name) found.push_back(&each);
    return found;
}

// Names in the order of their first entry.
std::vector<std::string> names_of(const measure::BenchDocument& document) {
    std::vector<std::string> names;
    for (const measure::Benchmark& each : document.benchmarks)
        if (std::find(names.begin(), names.end(), each.measurement.name) == names.end())
            names.push_back(each.measurement.name);
    return names;
}

// A call or program that takes longer than a turn on a CPU waits for others if there is more work than CPUs. Then its time is
// that of the moment: the share of time that a thread waits, as the relative error. It is measured in this process's own
// threads; for programs the load tells it. A shorter call runs within its turns, with caches and clocks that others use: its
// medians differed by 11 % where threads waited two thirds of the time.
double busy_of(const measure::Measurement& m, const measure::Machine& machine) {
    constexpr double kTurnNs = 3e6, kMostlyWaiting = 0.5, kSharedCaches = 0.04;
    auto cpus = static_cast<double>(machine.cpus);
    if (m.timer != "host") return 0;
    if (m.statistics.median <= kTurnNs) return m.waiting.value_or(0) > kMostlyWaiting ? kSharedCaches : 0;
    if (m.waiting) return *m.waiting;
    return machine.load && *machine.load > cpus && cpus > 0 ? 1 - cpus / *machine.load : 0;
}

// Threads of one call that wait for each other are all held up when one of them is. Below a quarter of the time, the median
// is that of calls that were not.
std::optional<double> stall_of(const measure::Measurement& m) {
    constexpr double kLeastStall = 0.25;
    bool stalled = m.threads.value_or(1) > 1 && m.waiting.value_or(0) > kLeastStall;
    return stalled ? std::optional(100 * *m.waiting) : std::nullopt;
}

std::vector<measure::SampledRun> runs_of(const RunsOfOne& side, const measure::Machine& machine) {
    std::vector<measure::SampledRun> runs;
    for (const measure::Benchmark* each : side)
        runs.push_back({each->measurement.samples, busy_of(each->measurement, machine), stall_of(each->measurement)});
    return runs;
}

// The median of the runs' medians; absent if a run has no samples.
Cell time_of(const RunsOfOne& side) {
    std::vector<double> medians;
    for (const measure::Benchmark* each : side) {
        if (each->measurement.statistics.count == 0) return kAbsent;
        medians.push_back(each->measurement.statistics.median);
    }
    std::sort(medians.begin(), medians.end());
    return measure::percentile_of(medians, 50);
}

// The mean over the runs; the sensor is off in the same direction in all of them.
std::optional<BenchEnergy> energy_over(const RunsOfOne& side) {
    BenchEnergy mean;
    for (const measure::Benchmark* each : side) {
        std::optional<BenchEnergy> energy = energy_of(*each);
        if (!energy) return std::nullopt;
        mean.joules += energy->joules / static_cast<double>(side.size());
        mean.off += energy->off / static_cast<double>(side.size());
    }
    return mean;
}

std::string_view kind_of(const measure::Measurement& m) {
    if (m.device < 0) return "";
    if (m.graph) return ", as a graph";
    return m.cold ? ", cold" : ", hot";
}

// Why two times cannot be compared; "" if they can.
std::string obstacle(const measure::Benchmark& a, const measure::Benchmark& b) {
    const measure::Measurement &before = a.measurement, &after = b.measurement;
    if (a.program.has_value() != b.program.has_value()) return "one side is a program, the other a function";
    std::string one = fmt::format("{}{}", before.timer, kind_of(before)),
                other = fmt::format("{}{}", after.timer, kind_of(after));
    return one == other ? "" : fmt::format("timed differently: {} and {}", one, other);
}

class Comparing {
public:
    Comparing(double min_effect, const std::vector<FailCondition>& conditions, const measure::Machine& before,
              const measure::Machine& after)
        : min_effect_(min_effect), conditions_(conditions), before_(before), after_(after) {}
    void pair(const RunsOfOne& baseline, const RunsOfOne& candidate);
    void single(const RunsOfOne& runs, bool of_baseline);
    BenchComparison take() { return std::move(found_); }
    void note(std::string sentence) { found_.table.notes.push_back(std::move(sentence)); }

private:
    void check(const std::string& name, const measure::Comparison& compared);

    double min_effect_;
    const std::vector<FailCondition>& conditions_;
    const measure::Machine &before_, &after_;
    BenchComparison found_{ResultTable("comparison", kColumns), {}};
};

std::string name_of_pair(const measure::Measurement& baseline, const measure::Measurement& candidate) {
    if (baseline.name == candidate.name) return baseline.name;
    return fmt::format("{} / {}", baseline.name, candidate.name);
}

void Comparing::pair(const RunsOfOne& baseline, const RunsOfOne& candidate) {
    const measure::Measurement &before = baseline[0]->measurement, &after = candidate[0]->measurement;
    std::string name = name_of_pair(before, after), why = obstacle(*baseline[0], *candidate[0]);
    measure::Comparison compared;
    if (why.empty())
        compared = measure::compare_runs(runs_of(baseline, before_), runs_of(candidate, after_), min_effect_);
    if (!why.empty()) compared.reason = why;
    auto end = [&](double measure::Interval::*member) {
        return compared.interval ? Cell((*compared.interval).*member) : kAbsent;
    };
    std::optional<BenchEnergy> joules = energy_over(baseline), joules_after = energy_over(candidate);
    bool both = joules && joules_after;
    auto joules_cell = [](const std::optional<BenchEnergy>& each) { return each ? Cell(each->joules) : kAbsent; };
    Cell speedup = compared.speedup ? Cell(*compared.speedup) : kAbsent;
    Cell change = compared.speedup ? Cell((1 / *compared.speedup - 1) * 100) : kAbsent;
    found_.table.add_row({std::string_view(name), measure::name_of(compared.verdict), time_of(baseline),
                          time_of(candidate), speedup, end(&measure::Interval::low), end(&measure::Interval::high),
                          change, std::string_view(compared.reason), joules_cell(joules), joules_cell(joules_after),
                          both ? Cell(change_of(*joules, *joules_after).pct) : kAbsent});
    note(fmt::format("{}: {}", name, compared.reason));
    if (both) note(fmt::format("{}: {}", name, to_text(*joules, *joules_after, baseline[0]->program ? "run" : "call")));
    if (before.device_name != after.device_name && why.empty())
        note(fmt::format("{}: baseline measured on {}, candidate on {}; the device may explain the difference", name,
                         before.device_name, after.device_name));
    check(name, compared);
}

void Comparing::single(const RunsOfOne& runs, bool of_baseline) {
    Cell median = time_of(runs);
    found_.table.add_row(
        {std::string_view(runs[0]->measurement.name), kAbsent, of_baseline ? median : kAbsent,
         of_baseline ? kAbsent : median, kAbsent, kAbsent, kAbsent, kAbsent,
         of_baseline ? std::string_view("only in the baseline") : std::string_view("only in the candidate"), kAbsent,
         kAbsent, kAbsent});
}

void Comparing::check(const std::string& name, const measure::Comparison& compared) {
    for (const FailCondition& condition : conditions_) {
        if (compared.verdict != condition.verdict) continue;
        if (condition.verdict == measure::SpeedVerdict::cannot_tell) {
            found_.failed.push_back(fmt::format("{}: cannot tell: {}", name, compared.reason));
            continue;
        }
        double longer = 1 / *compared.speedup - 1;
        if (longer > condition.more_than)
            found_.failed.push_back(fmt::format("{}: slower by {:.1f} %", name, longer * 100));
    }
}

void note_machines(const measure::BenchDocument& baseline, const measure::BenchDocument& candidate, Comparing& to) {
    const measure::Machine &a = baseline.machine, &b = candidate.machine;
    if (a.host == b.host && a.cpu == b.cpu && a.cpus == b.cpus) return;
    to.note(
        fmt::format("baseline measured on {} ({}, {} CPUs), candidate on {} ({}, {} CPUs); the machine may explain the "
                    "difference",
                    a.host, a.cpu, a.cpus, b.host, b.cpu, b.cpus));
}

}  // namespace

Result<FailCondition> parse_fail_condition(const std::string& text) {
    if (text == "cannot-tell") return FailCondition{measure::SpeedVerdict::cannot_tell, 0};
    if (text == "slower") return FailCondition{};
    std::string_view rest = text;
    if (rest.starts_with("slower>") && rest.size() > 7) {
        char* end = nullptr;
        double percent = std::strtod(text.c_str() + 7, &end);
        bool sign = *end == '%' && end[1] == '\0';
        if (end != text.c_str() + 7 && (*end == '\0' || sign) && percent >= 0 && percent < 1e6)
            return FailCondition{measure::SpeedVerdict::slower, percent / 100};
    }
    return unknown_choice("--fail-on condition", text, {"slower", "slower>5%", "cannot-tell"});
}

Result<BenchComparison> compare_results(const measure::BenchDocument& baseline, const measure::BenchDocument& candidate,
                                        double min_effect, const std::vector<FailCondition>& conditions) {
    Comparing comparing(min_effect, conditions, baseline.machine, candidate.machine);
    note_machines(baseline, candidate, comparing);
    std::vector<std::string> before = names_of(baseline), after = names_of(candidate);
    if (before.size() == 1 && after.size() == 1) {
        comparing.pair(find(baseline, before[0]), find(candidate, after[0]));
        return comparing.take();
    }
    bool any = false;
    for (const std::string& name : after) {
        RunsOfOne runs = find(baseline, name);
        any |= !runs.empty();
        runs.empty() ? comparing.single(find(candidate, name), false) : comparing.pair(runs, find(candidate, name));
    }
    for (const std::string& name : before)
        if (find(candidate, name).empty()) comparing.single(find(baseline, name), true);
    if (!any) return Error{ExitCode::unreadable, "cannot compare: the two results have no benchmark in common"};
    return comparing.take();
}

}  // namespace gpuprof::cli
