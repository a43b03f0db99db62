#include "analyze/facts/energy/energy_use.h"

#include "analyze/facts/activity.h"
#include "analyze/facts/facts.h"

namespace gpuprof::inline facts {
namespace {

// A measurement of this relative uncertainty needs no model.
constexpr double kGood = 0.15;
// The sensor tells nothing about thousands of short intervals.
constexpr std::size_t kMaxMeasured = 1000;

}  // namespace

EnergyOfDevice::EnergyOfDevice(const Facts& facts, const PowerSeries& series, const EnergyCurve& curve)
    : curve_(&curve), states_(facts, series.device), model_(series, states_, curve.most_w()) {}

EnergyEstimate EnergyOfDevice::over(const IntervalSet& set) const {
    EnergyEstimate measured;
    if (!set.empty() && set.size() <= kMaxMeasured) {
        measured = curve_->raw(set.front());
        for (std::size_t i = 1; i < set.size() && measured; ++i) {
            EnergyEstimate next = curve_->raw(set[i]);
            if (!next) measured = next;
            measured.joules += next.joules;
            measured.uncertainty_j += next.uncertainty_j;
            if (next.basis == EnergySource::power) measured.basis = EnergySource::power;
        }
        if (measured && measured.uncertainty_j <= kGood * measured.joules) return measured;
    }
    std::vector<double> seconds(states_.size(), 0);
    for (const Interval& each : set) states_.add_seconds(each, seconds);
    EnergyEstimate modelled = model_.energy(seconds);
    if (modelled.useful() && !(measured.useful() && measured.uncertainty_j < modelled.uncertainty_j)) return modelled;
    if (measured.useful()) return measured;
    EnergyEstimate absent;
    absent.because = "shorter than the sensor resolves, and ";
    absent.because += modelled ? "the power of the work in it is too uncertain" : modelled.because;
    return absent;
}

EnergyUse EnergyUse::make(const Facts& facts) {
    EnergyUse use;
    const PowerSeriesOfDevices& series = facts.get<PowerSeriesOfDevices>();
    const DeviceEnergies& energies = facts.get<DeviceEnergies>();
    for (const DeviceActivity& device : facts.get<Activity>().devices)
        if (const PowerSeries* of = series.of(device.device))
            use.devices.push_back(std::make_shared<const EnergyOfDevice>(facts, *of, *energies.of(device.device)));
    return use;
}

const EnergyOfDevice* EnergyUse::of(std::int32_t device) const {
    for (const auto& each : devices)
        if (each->device() == device) return each.get();
    return nullptr;
}

}  // namespace gpuprof::facts
