// The energy that a board used in any interval, with its uncertainty, from its counter and its power samples alone.
//
// The counter advances in steps, so a reading says how much energy had been used at some time in the last step. Between
// readings the curve of energy is bounded by the least and the most power that the board can draw.
//
// A power sample may be a mean over the last second (NVML on Ampere and later) and is renewed ten times a second, or it
// is instantaneous. Its integral therefore misplaces energy at the ends of an interval: by up to kShift on either side
// if power changes visibly around the end, and by up to an eighth of the averaging window if it changes within the window,
// where samples cannot show it. Power samples give the shape between readings of the counter that are far apart.
//
// Both come from the same sensor, whose gain may be wrong by 5 % (NVIDIA's NVML reference for GPUs that document it, and
// Yang, Adamek and Armour, "Part-time Power Measurements: nvidia-smi's Lack of Attention", 2024, for later ones). The
// uncertainty includes that; it cancels between two recordings of one board.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/facts/energy/power_series.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

// Error of the energy, relative to what the sensor says: the sensor may be 5 % too low.
inline constexpr double kSensorGain = 0.05 / (1 - 0.05);
// An estimate whose uncertainty exceeds this share of its value says nothing, and is absent.
inline constexpr double kMaxEnergyError = 0.5;

// model: computed from the power of the classes of work (power_model.h).
enum class EnergySource : std::uint8_t { none, counter, power, model };
std::string_view name_of(EnergySource source);

struct EnergyEstimate {
    EnergySource basis = EnergySource::none;
    double joules = 0;
    double uncertainty_j = 0;  // in either direction
    std::string because;       // why there is none
    explicit operator bool() const { return basis != EnergySource::none; }
    // Whether its uncertainty leaves something to be said.
    bool useful() const { return *this && uncertainty_j <= kMaxEnergyError * joules; }
    // The part of the uncertainty that does not cancel between two recordings of one board.
    double without_gain_j() const { return uncertainty_j - kSensorGain * joules; }
};

class EnergyCurve {
public:
    // `busy`: when the device worked, or null if that was not recorded. Both must outlive the curve.
    EnergyCurve(const PowerSeries& series, const IntervalSet* busy);

    // The energy in `within`; absent if its uncertainty exceeds kMaxEnergyError.
    EnergyEstimate over(Interval within) const;
    // The same with any uncertainty; absent only without samples.
    EnergyEstimate raw(Interval within) const;
    // From the first to the last value of the sensors.
    Interval sampled() const;
    std::int32_t device() const { return series_->device; }
    // Power that the board exceeds only where nothing shows it, in W.
    double most_w() const { return most_w_; }

private:
    struct Bounds {
        double low, high;
    };
    void find_limits();
    double visible_spread(TimeNs at) const;
    double misplaced(TimeNs at) const;
    double integral(TimeNs at) const;
    double unseen_s(Interval within) const;
    double sampling_error(Interval within) const;
    std::size_t power_before(TimeNs at) const;
    Bounds counted(TimeNs at) const;
    bool counter_covers(Interval within) const;
    EnergyEstimate by_counter(Interval within) const;
    EnergyEstimate by_power(Interval within) const;

    const PowerSeries* series_;
    const IntervalSet* busy_;
    double least_w_ = 0, most_w_ = 0;
    std::vector<double> integral_;  // J, up to each power sample
    std::vector<double> squares_;   // J^2, sampling error up to each power sample
    std::vector<double> unseen_;    // s, in pauses up to each power sample
};

struct DeviceEnergies {
    std::vector<EnergyCurve> curves;  // by device
    static DeviceEnergies make(const Facts& facts);
    const EnergyCurve* of(std::int32_t device) const;
    // Why a device has no energy at all.
    static std::string absent_because(const Facts& facts, std::int32_t device);
};

}  // namespace gpuprof::facts
