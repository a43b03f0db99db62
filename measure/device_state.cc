#include "measure/device_state.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "collect/device/device_source.h"
#include "core/schema/throttle.h"

namespace gpuprof::measure {
namespace {

constexpr MetricSet kAroundSamples{Metric::sm_clock, Metric::mem_clock, Metric::throttle, Metric::power, Metric::temp};

// Enough to see several changes of a counter that updates ten times a second.
constexpr int kEnergyReadings = 12;
constexpr DurNs kEnergyInterval = 50'000'000;

std::optional<double> mean_of(const std::vector<double>& values) {
    if (values.empty()) return std::nullopt;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void keep(const Reading& reading, Metric metric, std::vector<double>& to) {
    if (auto value = reading.get(metric)) to.push_back(*value);
}

}  // namespace

Result<ReadState> open_device_state(std::int32_t device) {
    SourceRequest request;
    request.backend = "nvml";
    request.devices = std::to_string(device);
    request.see_visible_devices();
    Result<std::unique_ptr<DeviceSource>> opened = open_source(request);
    if (!opened.ok()) return opened.error();
    std::shared_ptr<DeviceSource> source = std::move(*opened);
    return ReadState([source, polled = PollResult()](MetricSet due) mutable -> std::optional<Reading> {
        polled.clear();
        source->collect(due, polled);
        if (polled.readings.empty()) return std::nullopt;
        return polled.readings.front();
    });
}

bool DeviceWatch::take(MetricSet due) {
    std::optional<Reading> reading = read_ ? read_(due) : std::nullopt;
    if (!reading) return false;
    ++readings_;
    keep(*reading, Metric::sm_clock, sm_clocks_);
    keep(*reading, Metric::mem_clock, mem_clocks_);
    keep(*reading, Metric::power, powers_);
    if (auto now = reading->get(Metric::temp)) temp_ = std::max(temp_.value_or(*now), *now);
    if (begun_ == 0) begun_ = reading->time;
    last_ = reading->time;
    energy_.add(*reading);
    if (reading->get(Metric::energy)) {
        ++energy_readings_;
        last_energy_ = reading->time;
    }
    auto reasons = reading->get(Metric::throttle);
    if (!reasons) return false;
    Throttle throttle = throttle_of(static_cast<std::uint64_t>(*reasons));
    power_ |= throttle.power;
    thermal_ |= throttle.thermal;
    hardware_ |= throttle.hardware;
    return throttle.power || throttle.thermal || throttle.hardware;
}

void DeviceWatch::begin() { throttled_ = take(kAroundSamples | MetricSet{Metric::energy}); }
void DeviceWatch::end() {
    if (energy_readings_ > 0) take({Metric::energy});
}

bool DeviceWatch::is_throttled() {
    bool before = throttled_;
    bool energy_due =
        energy_readings_ > 0 && energy_readings_ < kEnergyReadings && last_ - last_energy_ >= kEnergyInterval;
    throttled_ = take(energy_due ? kAroundSamples | MetricSet{Metric::energy} : kAroundSamples);
    return before || throttled_;
}

DeviceConditions DeviceWatch::conditions() const {
    DeviceConditions found;
    found.readings = readings_;
    found.sm_clock_mhz = mean_of(sm_clocks_);
    if (!sm_clocks_.empty()) {
        found.sm_clock_min_mhz = *std::min_element(sm_clocks_.begin(), sm_clocks_.end());
        found.sm_clock_max_mhz = *std::max_element(sm_clocks_.begin(), sm_clocks_.end());
    }
    found.mem_clock_mhz = mean_of(mem_clocks_);
    found.power_w = mean_of(powers_);
    found.temp_c = temp_;
    if (Energy energy = energy_.over({begun_, last_}, {}); energy.basis != EnergyBasis::none) {
        found.energy_j = energy.joules;
        found.energy_uncertainty_j = energy.uncertainty_j;
        found.energy_basis = name_of(energy.basis);
    }
    for (auto [is, name] : {std::pair{power_, "power"}, std::pair{thermal_, "heat"}, std::pair{hardware_, "hardware"}})
        if (is) found.throttle += (found.throttle.empty() ? "" : ", ") + std::string(name);
    return found;
}

}  // namespace gpuprof::measure
