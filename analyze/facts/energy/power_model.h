// The power of each state of a device (work_states.h). The sensor may average over up to a second, so no sample shows a kernel
// alone, but states whose shares of the time vary can be separated by regression:
//
//   watts[k] = sum over states s of power[s] * share[s] in [t - delay - average, t - delay]      sum of shares = 1
//
// Delay and averaging window of the sensor are unknown; every pair of a grid that fits as well as the best one, within
// noise, counts, and the uncertainty covers all of them. For each pair, the standard error comes from leaving out one part
// of the recording after the other (a jackknife of blocks longer than the window), which allows for readings that overlap
// and for power that drifts.
//
// States whose shares vary only together are inseparable: they are merged, and only their sum has an energy. There is
// no model if readings are few, if the recorded work does not explain them (another process), or if the power of a state
// depends on its share (a board that throttles). Each of these has a reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/facts/energy/device_energy.h"
#include "analyze/facts/energy/power_series.h"
#include "analyze/facts/idle/work_states.h"

namespace gpuprof::inline facts {

// States that are estimated as one, by time, longest first.
using StateGroup = std::vector<std::uint32_t>;

class PowerModel {
public:
    // `most_w`: the most that the board draws.
    PowerModel(const PowerSeries& series, const WorkStates& states, double most_w);

    bool known() const { return because_.empty(); }
    // Why there is none.
    const std::string& because() const { return because_; }
    const std::vector<StateGroup>& groups() const { return groups_; }
    std::uint32_t group_of(std::uint32_t state) const { return group_of_[state]; }
    // The energy of a time that is `seconds` in each state, whatever its uncertainty.
    EnergyEstimate energy(const std::vector<double>& seconds) const;
    // That of the states of one group alone, over all of the recording.
    EnergyEstimate energy_of_group(std::uint32_t group, const std::vector<double>& seconds) const;

private:
    class Fitting;
    // Every group's power, and the same with one block of the recording left out each.
    struct Candidate {
        std::vector<double> watts;
        std::vector<std::vector<double>> without;
    };
    void find_groups(const Fitting& fitting, const WorkStates& states);
    void fit(const Fitting& fitting);
    void add_extrapolated(const Fitting& fitting);
    void check_curves(const Fitting& fitting, const WorkStates& states);
    EnergyEstimate combined(const std::vector<double>& seconds_of_group) const;

    std::string because_;
    std::vector<StateGroup> groups_;
    std::vector<std::uint32_t> group_of_;
    std::vector<double> composition_;    // by state: its share of its group's time
    std::vector<Candidate> candidates_;  // the best one first
    PowerSensor chosen_;
    double most_w_ = 0;
    double unexplained_w_ = 0, average_s_ = 0;  // root mean square of the residuals, and the window they are means of
};

}  // namespace gpuprof::facts
