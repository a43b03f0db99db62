// The energy per step of a recording, as a metric: the mean over all steps, and samples that are blocks of steps, each long
// enough for the sensor to tell it from its neighbours. A single step rarely is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/steps/step_finder.h"
#include "compare/change.h"
#include "core/model/interval.h"

namespace gpuprof::compare {

struct EnergyOfRun {
    std::optional<double> joules;  // of the span, all devices with work; absent if that of one of them is unknown
    double uncertainty_pct = 0;    // without the sensor's gain, which cancels between recordings of one board
    std::vector<double> blocks;    // joules per step
    std::string boards;            // unique ids of these devices; empty if unknown
};

// What samples of the metric are called.
inline constexpr std::string_view kBlocks = "blocks of steps";

EnergyOfRun energy_of(const Facts& facts, std::span<const Step> steps, Interval span);

// Withdraws what the uncertainty of the sensors can explain, and widens the intervals by it.
Change allow_for_sensors(Change change, const EnergyOfRun& base, const EnergyOfRun& next);

}  // namespace gpuprof::compare
