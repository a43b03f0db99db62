// A live state drawn for tests: one device, readings by hand.
#pragma once

#include "cli/live/live_state.h"

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
        PollResult polled;
        polled.readings.emplace_back();
        polled.readings.back().time = kNoon + ticks * kTick;
        polled.readings.back().device = device;
        for (auto [metric, value] : values) polled.readings.back().set(metric, value);
        state.on_poll(polled);
    }
    void fault(MetricSet metrics, bool lost, const std::string& sentence, int device = 0) {
        PollResult polled;
        polled.faults.push_back({kNoon, device, metrics, lost, sentence});
        state.on_poll(polled);
    }
    void process(int ticks, std::int64_t pid, double mem_mb, int device = 0) {
        PollResult polled;
        polled.processes.push_back({kNoon + ticks * kTick, device, pid, mem_mb, std::nullopt});
        state.on_poll(polled);
    }
};

}  // namespace gpuprof
