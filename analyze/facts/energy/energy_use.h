// The energy of any set of intervals on each device: measured where the intervals are long enough for the sensor, else
// computed from the power of the classes of work that ran in them, else absent with the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyze/facts/energy/device_energy.h"
#include "analyze/facts/energy/power_model.h"
#include "analyze/facts/idle/work_states.h"

namespace gpuprof::inline facts {

class Facts;

class EnergyOfDevice {
public:
    EnergyOfDevice(const Facts& facts, const PowerSeries& series, const EnergyCurve& curve);

    std::int32_t device() const { return curve_->device(); }
    EnergyEstimate over(const IntervalSet& set) const;
    EnergyEstimate over(Interval within) const { return over(IntervalSet{within}); }
    const EnergyCurve& curve() const { return *curve_; }
    const WorkStates& states() const { return states_; }
    const PowerModel& model() const { return model_; }

private:
    const EnergyCurve* curve_;
    WorkStates states_;
    PowerModel model_;
};

// One entry per selected device with work and samples of power.
struct EnergyUse {
    std::vector<std::shared_ptr<const EnergyOfDevice>> devices;
    static EnergyUse make(const Facts& facts);
    const EnergyOfDevice* of(std::int32_t device) const;
};

}  // namespace gpuprof::facts
