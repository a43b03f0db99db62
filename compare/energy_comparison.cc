#include "compare/energy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/facts/activity.h"
#include "analyze/facts/energy/device_energy.h"
#include "compare/change.h"

namespace gpuprof::compare {
namespace {

constexpr double kBlockError = 0.05;  // of a block's energy, without the gain

struct Sum {
    double joules = 0, uncertainty_j = 0;
    bool known = true;
};

Sum sum_of(const std::vector<const EnergyCurve*>& curves, Interval within) {
    Sum sum;
    for (const EnergyCurve* curve : curves) {
        EnergyEstimate found = curve->raw(within);
        if (!found) return {0, 0, false};
        sum.joules += found.joules;
        sum.uncertainty_j += found.without_gain_j();
    }
    return sum;
}

}  // namespace

EnergyOfRun energy_of(const Facts& facts, std::span<const Step> steps, Interval span) {
    EnergyOfRun found;
    std::vector<const EnergyCurve*> curves;
    const DeviceTable& known = facts.trace().tables().device;
    bool boards_known = true;
    for (const DeviceActivity& device : facts.get<Activity>().devices) {
        if (length_within(device.busy, span) == 0) continue;
        curves.push_back(facts.get<DeviceEnergies>().of(device.device));
        if (curves.back() == nullptr) return {};
        std::string board;
        for (Row row = 0; row < known.rows; ++row)
            if (known.device.value_or(row, -1) == device.device && known.uuid.has(row))
                board = facts.trace().text(known.uuid[row]);
        boards_known = boards_known && !board.empty();
        found.boards += board + ' ';
    }
    if (!boards_known) found.boards.clear();
    Sum all = sum_of(curves, span);
    if (curves.empty() || !all.known || all.uncertainty_j > kMaxEnergyError * all.joules) return {};
    found.joules = all.joules;
    found.uncertainty_pct = 100 * all.uncertainty_j / all.joules;
    for (std::size_t first = 0, last = 0; last < steps.size(); ++last) {
        Sum block = sum_of(curves, {steps[first].start, steps[last].end});
        if (!block.known || block.uncertainty_j > kBlockError * block.joules) continue;
        found.blocks.push_back(block.joules / static_cast<double>(last + 1 - first));
        first = last + 1;
    }
    return found;
}

Change allow_for_sensors(Change change, const EnergyOfRun& base, const EnergyOfRun& next) {
    if (!change.pct) return change;
    bool same_board = !base.boards.empty() && base.boards == next.boards;
    double sensors = std::hypot(base.uncertainty_pct, next.uncertainty_pct) * (1 + std::abs(*change.pct) / 100);
    if (change.of_runs) sensors = 0;  // part of the noise from recording to recording
    if (!same_board) sensors += 200 * kSensorGain;
    for (std::optional<measure::Interval>* interval : {&change.interval, &change.strict})
        if (*interval) {
            (*interval)->low -= sensors;
            (*interval)->high += sensors;
        }
    if (change.word == Word::cannot_tell || sensors == 0) return change;
    bool holds = std::abs(*change.pct) > sensors;
    if (change.word == Word::same)
        holds = !change.interval || word_of(change) == Word::same;
    else if (change.strict)
        holds = change.strict->low > 0 || change.strict->high < 0;
    if (holds) {
        if (change.interval) change.because = because_of(change, change.of_runs ? "recordings" : kBlocks);
        return change;
    }
    change.word = Word::cannot_tell;
    change.because = fmt::format("the sensors may be wrong by {:.1f} %{}", sensors,
                                 same_board ? "; record longer" : ", because the boards differ or are unknown");
    return change;
}

}  // namespace gpuprof::compare
