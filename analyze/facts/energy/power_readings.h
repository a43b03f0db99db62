// Readings of power that a regression can use, and what a sensor of given delay and averaging window would have seen of each
// state of work in the window of every reading.
#pragma once

#include <vector>

#include "analyze/facts/energy/power_series.h"
#include "analyze/facts/idle/work_states.h"

namespace gpuprof::inline facts {

struct PowerReading {
    TimeNs time = 0;
    double watts = 0;
    DurNs average = 0;  // length of the window that `watts` is the mean of; 0: that of the sensor
};

// A sensor that may be the true one.
struct PowerSensor {
    DurNs delay = 0;
    DurNs average = 0;  // 0: readings carry their own
    DurNs jitter = 0;   // by how much the delays of readings differ
};

struct PowerReadings {
    std::vector<PowerReading> readings;  // of windows within the recorded work, for every sensor of sensors()
    bool of_counter = false;
    DurNs age_spread = 0;  // by how much the ages of the values differ

    // Steps of the counter if they were read soon after they happened, else power samples; the better of the two.
    static PowerReadings of(const PowerSeries& series, Interval work);
    std::vector<PowerSensor> sensors() const;
    // Number of readings whose windows do not overlap.
    double independent(PowerSensor sensor) const;
    // By how much of a window a state must vary on its own to be told apart: more than by errors of the window's ends.
    double min_share() const { return of_counter ? 0.08 : 0.02; }
    // By reading, the share of each state in its window.
    std::vector<std::vector<double>> shares(const WorkStates& states, PowerSensor sensor) const;
};

}  // namespace gpuprof::facts
