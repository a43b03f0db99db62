// A live state drawn for tests: one device, readings by hand.
#pragma once

#include "cli/live/state.h"

namespace gpuprof {

inline constexpr DurNs kTick = 1'000'000'000;
inline constexpr TimeNs kNoon = 1'000 * kTick;

struct DrawnState {
    LiveState state{kTick};

    explicit DrawnState(int devices = 1, const std::string& name = "NVIDIA H200") {
        Opened opened;
        opened.backend = "nvml";
        for (int i = 0; i < devices; ++i) {
            opened.devices.emplace_back();
            opened.devices.back().device = i;
            opened.devices.back().name = name;
            opened.devices.back().uuid = "GPU-" + std::to_string(i);
        }
        state.opened(opened);
    }
    // A reading of `device`, `ticks` after noon.
    void read(int ticks, std::initializer_list<std::pair<Metric, double>> values, int device = 0) {
        Harvest harvest;
        harvest.readings.emplace_back();
        harvest.readings.back().time = kNoon + ticks * kTick;
        harvest.readings.back().device = device;
        for (auto [metric, value] : values) harvest.readings.back().set(metric, value);
        state.harvested(harvest);
    }
    void fault(MetricSet metrics, bool lost, const std::string& sentence, int device = 0) {
        Harvest harvest;
        harvest.faults.push_back({kNoon, device, metrics, lost, sentence});
        state.harvested(harvest);
    }
    void process(int ticks, std::int64_t pid, double mem_mb, int device = 0) {
        Harvest harvest;
        harvest.processes.push_back({kNoon + ticks * kTick, device, pid, mem_mb, std::nullopt});
        state.harvested(harvest);
    }
};

}  // namespace gpuprof
