// The energy that a board used in a region, computed from a stream of readings in constant memory: joules, their
// maximum error, and which of two sources they come from.
//
// The energy counter advances in steps (every 100 ms on an H200). A difference of two readings therefore lacks the
// energy since the last step before the second reading, and includes the energy since the last step before the first
// one. Both are bounded: by the counter's own first step, and by the maximum power of the board over the longest
// interval between steps. That interval follows from the readings: each change of the value is at least one step.
// Without two changes, interval and error are unknown, and the counter gives no answer.
//
// Power is the driver's figure, averaged over up to a second (NVML on Ampere and later) and renewed ten times a second.
// Its integral misplaces up to 0.6 s of energy at each end. Older boards report instantaneous power, whose integral has
// the sampling error of a mean. The bound includes both.
//
// A result whose error may exceed half of its value is discarded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collect/device/device_reading.h"

namespace gpuprof::inline device {

struct RegionBounds {
    TimeNs start = 0, end = 0;  // CLOCK_REALTIME; the region without its warm-up
};

enum class EnergyBasis { none, counter, power };

struct Energy {
    EnergyBasis basis = EnergyBasis::none;
    double joules = 0;         // meaningful with a basis
    double uncertainty_j = 0;  // in either direction: a bound for the counter, a 95 % interval for power samples
    std::string note;          // its source, or why it is absent; empty if the device reports neither
};

std::string_view name_of(EnergyBasis basis);

class EnergyMeter {
public:
    // In order of time; a reading that is earlier than the last one is dropped.
    void add(const Reading& reading);
    // `power_limit_w` bounds the power between two counter steps; if unknown, that of the largest board applies.
    Energy over(RegionBounds region, std::optional<double> power_limit_w) const;

    // Upper bound of the time between two counter steps; absent until the counter changed twice.
    std::optional<DurNs> counter_interval() const { return interval_; }

private:
    struct Estimate {
        double joules, uncertainty_j;
    };
    void add_counter(TimeNs time, double joules);
    void add_power(TimeNs time, double watts);
    double max_power(std::optional<double> power_limit_w) const;
    std::optional<Estimate> by_counter(RegionBounds region, double most_w) const;
    std::optional<Estimate> by_power(RegionBounds region, double most_w) const;

    struct {
        std::uint64_t readings = 0, changes = 0;
        bool went_back = false;  // the driver was reloaded
        double first = 0, last = 0, first_step = 0;
        TimeNs first_time = 0, last_time = 0;
        TimeNs before_first_change = 0, before_last_change = 0;  // the last readings before these changes
    } counter_;
    std::optional<DurNs> interval_;
    struct {
        std::uint64_t readings = 0, values = 1;  // values: number of changes, plus the first value
        double last = 0, max = 0, mean = 0, squares = 0, integral = 0;
        TimeNs first_time = 0, last_time = 0;
        double unseen_s = 0;  // in pauses much longer than usual
    } power_;
};

}  // namespace gpuprof::device
