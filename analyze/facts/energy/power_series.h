// What the sensors of each device said about its power: samples of `power` and readings of the counter `energy`, in order
// of time. The driver renews both in steps and holds them in between, so how old a value may be is part of a reading.
//
// Values that cannot be (negative, not finite) are dropped. A counter that goes back was reset: only its longest run of
// readings without a reset is kept, and `reset` says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

}  // namespace gpuprof::facts
