// The device ran below its clocks for heat or power.
#include "analyze/facts/energy/throttling.h"

#include <fmt/format.h>

#include "analyze/rules/evidence.h"
#include "analyze/rules/rule_list.h"

namespace gpuprof::inline rules {
namespace {

constexpr double kMinThrottledPct = 10;  // percent of the samples

Ruling look_for_throttling(const Facts& facts) {
    const Throttling& found = facts.get<Throttling>();
    if (found.samples == 0)
        return Ruling::abstain("clocks and throttle reasons were not recorded; gpu-profile record samples them");
    if (found.pct() < kMinThrottledPct) return Ruling::silent();
    auto pct = [&](std::size_t part) { return 100 * static_cast<double>(part) / static_cast<double>(found.samples); };
    Finding finding;
    finding.title = fmt::format("Clocks were throttled in {:.0f} % of the samples", found.pct());
    finding.evidence.push_back(fmt::format(
        "power {:.0f} %, heat {:.0f} %, hardware slowdown {:.0f} % of {} samples of throttle.reasons (`samples`)",
        pct(found.power), pct(found.thermal), pct(found.hardware), spoken_count(found.samples)));
    finding.remedy = found.thermal >= found.power
                         ? "Improve cooling (airflow, fan curve, neighbouring cards), and "
                           "compare only measurements taken at the same clocks."
                         : "Raise the power limit if permitted (nvidia-smi -pl), or lock the "
                           "clocks below it (nvidia-smi -lgc) to make measurements comparable.";
    finding.confidence = Rating::medium;
    finding.basis = Basis::counters;
    finding.would_change_if = "clock.sm stays at its maximum while the reasons are set";
    return Ruling::fires(std::move(finding));
}

}  // namespace

const Rule kThrottling{"throttling", "Heat or power throttled the clocks.", look_for_throttling, Effort::edit};

}  // namespace gpuprof::rules
