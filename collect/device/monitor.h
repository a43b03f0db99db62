// Samples devices during one region: start, stop, summary. The C++ interface behind `gpu-profile -- CMD`, GpuMonitor
// and the C ABI.
//
//   gpuprof::Monitor monitor({.request = {.backend = "auto", .devices = "all"}});
//   if (gpuprof::Status status = monitor.start(); !status) ...;   // fails only when `strict`
//   work();
//   monitor.stop();
//   for (const gpuprof::GpuSummary& summary : monitor.summaries()) puts(to_text(summary).c_str());
//
// A separate process takes the samples; a driver that hangs or crashes only leaves a gap and a note here. Thread-safe.
// In a forked child, stop() does nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/device_source.h"
#include "collect/device/sampler_wire.h"
#include "collect/device/summary.h"
#include "core/base/result.h"

namespace gpuprof::inline device {

// Receives every message, in order, on the monitor's own thread. Must be quick and must not call the monitor.
struct Observer {
    std::function<void(const Opened&)> opened;
    std::function<void(const PollResult&)> on_poll;
    // Sampling ended without a request: "" at the end of a replay, otherwise the reason.
    std::function<void(const std::string&)> over = {};
    // The sampler died or hung: no samples until it restarts, if it does. The sentence says what happened.
    std::function<void(const std::string&)> broken = {};
};

struct MonitorOptions {
    SourceRequest request;
    DurNs warmup = 0;                     // excluded from the statistics, at the beginning
    std::size_t max_samples = 65'536;     // kept per device
    bool strict = false;                  // start() fails instead of continuing without samples
    DurNs start_timeout = 2'000'000'000;  // how long start() waits for the first sample; negative: not at all
    std::string program;                  // of the sampler; "" searches for it
    Observer observer;
};

class Monitor {
public:
    explicit Monitor(MonitorOptions options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Begins a region and discards an earlier one. Without `strict`, it succeeds even if no device can be sampled.
    Status start();
    // Ends the region within a second, whatever the driver does. Does nothing without an open region.
    void stop();
    bool running() const;

    // One summary per sampled device, so far or of the whole region; one without samples if no device was sampled.
    std::vector<GpuSummary> summaries() const;
    // The kept readings of the index-th device, in order of time; empty beyond the last.
    std::vector<Reading> samples(std::size_t index) const;
    std::vector<SampledDevice> devices() const;
    TimeNs started() const;  // when start() was called, CLOCK_REALTIME

private:
    MonitorOptions options_;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpuprof::device
