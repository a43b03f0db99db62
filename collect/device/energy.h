// The energy that a board used in a region, from readings as they come, in constant memory: joules, the most they may be
// off, and which of two sources they rest on.
//
// The energy counter moves in steps (every 100 ms on an H200), so a difference of two readings lacks what was used since the
// last step before the second and has too much by what was used since the last step before the first. Both are bounded: by
// the counter's own first step, and by the power the board can draw for the longest interval between steps. That interval
// is read off the readings: each change of the value is at least one step. Without two changes it is unknown, and so is the
// error; the counter then gives no answer.
//
// Power is what the driver says, averaged over up to a second before (NVML on Ampere and later) and renewed ten times a
// second: its integral misplaces up to 0.6 s of energy at each end. Older boards give instantaneous power, whose integral has
// the sampling error of a mean; both are in the bound.
//
// An answer that may be off by more than half of itself is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collect/device/reading.h"

namespace gpuprof {

struct RegionBounds {
    TimeNs start = 0, end = 0;  // CLOCK_REALTIME; the region without its warm-up
};

enum class EnergyBasis { none, counter, power };

struct Energy {
    EnergyBasis basis = EnergyBasis::none;
    double joules = 0;         // meaningful with a basis
    double uncertainty_j = 0;  // either way: a bound of the counter, 95 % of power samples
    std::string note;          // what it rests on or why it is absent; empty when the device reports neither
};

std::string_view name_of(EnergyBasis basis);

class EnergyMeter {
public:
    // In order of time; one that is earlier than the last is left out.
    void add(const Reading& reading);
    // `power_limit_w` bounds what the board draws between two steps of the counter; without it, the largest board's does.
    Energy over(RegionBounds region, std::optional<double> power_limit_w) const;

    // An upper bound of the time between two steps of the counter; absent before it changed twice.
    std::optional<DurNs> counter_interval() const { return interval_; }

private:
    struct Estimate {
        double joules, uncertainty_j;
    };
    void add_counter(TimeNs time, double joules);
    void add_power(TimeNs time, double watts);
    double most_power(std::optional<double> power_limit_w) const;
    std::optional<Estimate> by_counter(RegionBounds region, double most_w) const;
    std::optional<Estimate> by_power(RegionBounds region, double most_w) const;

    struct {
        std::uint64_t readings = 0, changes = 0;
        bool went_back = false;  // the driver was loaded anew
        double first = 0, last = 0, first_step = 0;
        TimeNs first_time = 0, last_time = 0;
        TimeNs before_first_change = 0, before_last_change = 0;  // the last readings without them
    } counter_;
    std::optional<DurNs> interval_;
    struct {
        std::uint64_t readings = 0, values = 1;  // values: changes of it, and the first
        double last = 0, most = 0, mean = 0, squares = 0, integral = 0;
        TimeNs first_time = 0, last_time = 0;
        double unseen_s = 0;  // in pauses much longer than the usual one
    } power_;
};

}  // namespace gpuprof
