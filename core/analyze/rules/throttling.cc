// The device ran below its clocks for heat or power.
#include "core/analyze/facts/throttling.h"

#include <fmt/format.h>

#include "core/analyze/rules/evidence.h"
#include "core/analyze/rules/rule_list.h"

namespace gpuprof {
namespace {

constexpr double kNotable = 10;  // percent of the samples

Ruling look(const Facts& facts) {
    const Throttling& found = facts.get<Throttling>();
    if (found.samples == 0)
        return Ruling::abstain(
            "clocks and throttle reasons were not recorded; gpu-profile record samples them beside the program");
    if (found.pct() < kNotable) return Ruling::silent();
    auto pct = [&](std::size_t part) { return 100 * static_cast<double>(part) / static_cast<double>(found.samples); };
    Finding finding;
    finding.title = fmt::format("The GPU held its clocks down in {:.0f} % of the samples", found.pct());
    finding.evidence.push_back(
        fmt::format("power {:.0f} %, heat {:.0f} %, hardware slowdown {:.0f} % of {} samples of "
                    "throttle.reasons (`samples`)",
                    pct(found.power), pct(found.heat), pct(found.hardware), spoken_count(found.samples)));
    finding.remedy =
        found.heat >= found.power
            ? "Cool it: airflow, fan curve, neighbours; compare only measurements taken at the same clocks."
            : "The power limit holds: raise it if you may (nvidia-smi -pl), or lock clocks below it "
              "(nvidia-smi -lgc) so that measurements compare.";
    finding.confidence = Weight::medium;
    finding.basis = Basis::counters;
    finding.would_change_if = "clock.sm stayed at its maximum while the reasons were set";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kThrottling{"throttling", "The device ran below its clocks for heat or power.", look};

}  // namespace gpuprof
