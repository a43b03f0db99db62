// Clocks, throttle reasons, power and energy of the device under test, read around groups of samples, and what they mean for
// them. Read through collect/device's NVML source in this process: a reading takes about 10 us (energy 3 ms: at both
// ends, and a few times between to see how often its counter moves) and falls between samples, never into one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collect/device/energy.h"
#include "collect/device/reading.h"
#include "core/base/result.h"

namespace gpuprof::measure {

// Reads what is in the set; absent when nothing could be read.
using ReadState = std::function<std::optional<Reading>(MetricSet)>;

// For a device as CUDA numbers it in this process. The error says why there are no readings.
Result<ReadState> open_device_state(std::int32_t device);

// What a run was like for the device.
struct DeviceConditions {
    std::size_t readings = 0;
    std::optional<double> sm_clock_mhz, sm_clock_min_mhz, sm_clock_max_mhz;  // mean, least, most
    std::optional<double> mem_clock_mhz, power_w;                            // means
    std::optional<double> temp_c;                                            // most
    // Over all of it; absent as collect/device/energy.h says.
    std::optional<double> energy_j, energy_uncertainty_j;
    std::string energy_basis;  // "counter", "power", ""
    std::string throttle;      // "power, heat": what held clocks down at any reading; "" nothing, or not known
};

// Takes readings and remembers what the result needs of them.
class DeviceWatch {
public:
    // No function: nothing is known, and nothing counts as throttled.
    explicit DeviceWatch(ReadState read) : read_(std::move(read)) {}
    void begin();  // with the energy counter
    void end();
    // One reading. True when clocks are held down now or were at the reading before.
    bool held_down();
    DeviceConditions conditions() const;

private:
    bool take(MetricSet due);

    ReadState read_;
    bool held_down_ = false;
    std::size_t readings_ = 0;
    std::vector<double> sm_clocks_, mem_clocks_, powers_;
    std::optional<double> temp_;
    EnergyMeter energy_;
    int energy_readings_ = 0;
    TimeNs begun_ = 0, last_ = 0, last_energy_ = 0;  // of readings
    bool power_ = false, heat_ = false, hardware_ = false;
};

}  // namespace gpuprof::measure
