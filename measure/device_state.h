// Clocks, throttle reasons, power and energy of the device under test, read around groups of samples, and their effect
// on the samples. Read in this process through collect/device's NVML source: a reading takes about 10 us (energy 3 ms:
// at both ends, and a few times in between to learn how often its counter updates) and falls between samples, never
// into one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/energy.h"
#include "core/base/result.h"

namespace gpuprof::measure {

// Reads the metrics in the set; absent if none could be read.
using ReadState = std::function<std::optional<Reading>(MetricSet)>;

// For a device in CUDA's numbering of this process. The error says why there are no readings.
Result<ReadState> open_device_state(std::int32_t device);

// The conditions of a run.
struct DeviceConditions {
    std::size_t readings = 0;
    std::optional<double> sm_clock_mhz, sm_clock_min_mhz, sm_clock_max_mhz;  // mean, minimum, maximum
    std::optional<double> mem_clock_mhz, power_w;                            // means
    std::optional<double> temp_c;                                            // maximum
    // Of the whole run; absent for the reasons in collect/device/energy.h.
    std::optional<double> energy_j, energy_uncertainty_j;
    std::string energy_basis;  // "counter", "power", ""
    std::string throttle;      // "power, heat": reasons for throttled clocks at any reading; "" if none, or unknown
};

// Takes readings and keeps what the result needs.
class DeviceWatch {
public:
    // Without a function nothing is known, and no sample counts as throttled.
    explicit DeviceWatch(ReadState read) : read_(std::move(read)) {}
    void begin();  // includes the energy counter
    void end();
    // Takes one reading. Returns true if clocks are throttled now or were at the previous reading.
    bool is_throttled();
    DeviceConditions conditions() const;

private:
    bool take(MetricSet due);

    ReadState read_;
    bool throttled_ = false;
    std::size_t readings_ = 0;
    std::vector<double> sm_clocks_, mem_clocks_, powers_;
    std::optional<double> temp_;
    EnergyMeter energy_;
    int energy_readings_ = 0;
    TimeNs begun_ = 0, last_ = 0, last_energy_ = 0;  // of readings
    bool power_ = false, thermal_ = false, hardware_ = false;
};

}  // namespace gpuprof::measure
