// What the sensors of each device said about its power: samples of `power` and readings of the counter `energy`, in order
// of time. The driver renews both in steps and holds them in between, so how old a value may be is part of a reading.
//
// Values that cannot be (negative, not finite) are dropped. A counter that goes back was reset: only its longest run of
// readings without a reset is kept, and `reset` says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/facts/idle/work_states.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

struct PowerSample {
    TimeNs time = 0;
    double watts = 0;
};

struct CounterReading {
    TimeNs time = 0;
    double joules = 0;
    DurNs max_age = 0;     // the counter had this value at some time in [time - max_age, time]
    bool changed = false;  // differs from the reading before it
};

struct PowerSeries {
    std::int32_t device = -1;
    std::vector<PowerSample> power;
    std::vector<CounterReading> counter;  // empty if its step is unknown: it did not change twice
    DurNs counter_step = 0;               // upper bound of the time between two steps of the counter
    bool reset = false;
    std::size_t counter_readings = 0;  // recorded, also if they are of no use
};

// One entry per selected device with samples of either, by ordinal.
struct PowerSeriesOfDevices {
    std::vector<PowerSeries> devices;
    static PowerSeriesOfDevices make(const Facts& facts);
    const PowerSeries* of(std::int32_t device) const;
};

// Readings of power that a regression can use, and what a sensor of given delay and averaging window would have seen of each
// state of work in the window of every reading.
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
    // By how much of a window a state must vary on its own to be known: more than by errors of the window's ends.
    double min_share() const { return of_counter ? 0.08 : 0.02; }
    // By reading, the share of each state in its window.
    std::vector<std::vector<double>> shares(const WorkStates& states, PowerSensor sensor) const;
};

}  // namespace gpuprof::facts
