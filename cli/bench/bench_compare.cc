// Benchmarks are paired by name; if each side has a single one, they are paired whatever their names. Times that mean
// different things (another timer, another cache state, a graph on one side only) are not compared: the verdict is
// `cannot tell`. A different machine or device does not prevent a comparison; a note says so.
#include "cli/bench/bench_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

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

const measure::Benchmark* find(const measure::BenchDocument& document, const std::string& name) {
    for (const measure::Benchmark& each : document.benchmarks)
        if (each.measurement.name == name) return &each;
    return nullptr;
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
    Comparing(double min_effect, const std::vector<FailCondition>& conditions)
        : options_{.paired = false, .min_effect = min_effect}, conditions_(conditions) {}
    void pair(const measure::Benchmark& baseline, const measure::Benchmark& candidate);
    void single(const measure::Benchmark& benchmark, bool of_baseline);
    BenchComparison take() { return std::move(found_); }
    void note(std::string sentence) { found_.table.notes.push_back(std::move(sentence)); }

private:
    void check(const std::string& name, const measure::Comparison& compared);

    measure::ComparisonOptions options_;
    const std::vector<FailCondition>& conditions_;
    BenchComparison found_{ResultTable("comparison", kColumns), {}};
};

std::string name_of_pair(const measure::Measurement& baseline, const measure::Measurement& candidate) {
    if (baseline.name == candidate.name) return baseline.name;
    return fmt::format("{} / {}", baseline.name, candidate.name);
}

void Comparing::pair(const measure::Benchmark& baseline, const measure::Benchmark& candidate) {
    const measure::Measurement &before = baseline.measurement, &after = candidate.measurement;
    std::string name = name_of_pair(before, after), why = obstacle(baseline, candidate);
    measure::Comparison compared;
    if (why.empty()) compared = measure::compare(before.samples, after.samples, options_);
    if (!why.empty()) compared.reason = why;
    auto end = [&](double measure::Interval::*member) {
        return compared.interval ? Cell((*compared.interval).*member) : kAbsent;
    };
    std::optional<BenchEnergy> joules = energy_of(baseline), joules_after = energy_of(candidate);
    bool both = joules && joules_after;
    auto joules_cell = [](const std::optional<BenchEnergy>& each) { return each ? Cell(each->joules) : kAbsent; };
    auto median = [](const measure::Measurement& m) {
        return m.statistics.count > 0 ? Cell(m.statistics.median) : kAbsent;
    };
    Cell speedup = compared.speedup ? Cell(*compared.speedup) : kAbsent;
    Cell change = compared.speedup ? Cell((1 / *compared.speedup - 1) * 100) : kAbsent;
    found_.table.add_row({std::string_view(name), measure::name_of(compared.verdict), median(before), median(after),
                          speedup, end(&measure::Interval::low), end(&measure::Interval::high), change,
                          std::string_view(compared.reason), joules_cell(joules), joules_cell(joules_after),
                          both ? Cell(change_of(*joules, *joules_after).pct) : kAbsent});
    note(fmt::format("{}: {}", name, compared.reason));
    if (both) note(fmt::format("{}: {}", name, to_text(*joules, *joules_after, baseline.program ? "run" : "call")));
    if (before.device_name != after.device_name && why.empty())
        note(fmt::format("{}: baseline measured on {}, candidate on {}; the device may explain the difference", name,
                         before.device_name, after.device_name));
    check(name, compared);
}

void Comparing::single(const measure::Benchmark& benchmark, bool of_baseline) {
    const measure::Measurement& m = benchmark.measurement;
    Cell median = m.statistics.count > 0 ? Cell(m.statistics.median) : kAbsent;
    found_.table.add_row(
        {std::string_view(m.name), kAbsent, of_baseline ? median : kAbsent, of_baseline ? kAbsent : median, kAbsent,
         kAbsent, kAbsent, kAbsent,
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
    Comparing comparing(min_effect, conditions);
    note_machines(baseline, candidate, comparing);
    if (baseline.benchmarks.size() == 1 && candidate.benchmarks.size() == 1) {
        comparing.pair(baseline.benchmarks[0], candidate.benchmarks[0]);
        return comparing.take();
    }
    bool any = false;
    for (const measure::Benchmark& each : candidate.benchmarks) {
        const measure::Benchmark* before = find(baseline, each.measurement.name);
        any |= before != nullptr;
        before != nullptr ? comparing.pair(*before, each) : comparing.single(each, false);
    }
    for (const measure::Benchmark& each : baseline.benchmarks)
        if (find(candidate, each.measurement.name) == nullptr) comparing.single(each, true);
    if (!any) return Error{ExitCode::unreadable, "cannot compare: the two results have no benchmark in common"};
    return comparing.take();
}

}  // namespace gpuprof::cli
