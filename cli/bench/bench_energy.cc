#include "cli/bench/bench_energy.h"

#include <fmt/format.h>

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
        sum.joules += *device.energy_j, sum.off += *device.energy_uncertainty_j;
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

}  // namespace gpuprof::cli
