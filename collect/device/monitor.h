// Device sampling of one region: start, stop, summary. The C++ face of `gpu-profile -- CMD`, GpuMonitor and the C ABI.
//
//   gpuprof::Monitor monitor({.request = {.backend = "auto", .devices = "all"}});
//   if (gpuprof::Status status = monitor.start(); !status) ...;   // fails only when `strict`
//   work();
//   monitor.stop();
//   for (const gpuprof::GpuSummary& summary : monitor.summaries()) puts(to_text(summary).c_str());
//
// Samples are taken in a process of their own; a driver that hangs or crashes leaves a gap and a note here and nothing
// else. Any thread may call anything. After fork() the child's copy is dead: stop() does nothing there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/device/reading.h"
#include "collect/device/source.h"
#include "collect/device/summary.h"
#include "collect/device/wire.h"
#include "core/base/result.h"

namespace gpuprof {

// Told of everything that arrives, in order, on the monitor's own thread; must be quick and must not call the monitor.
struct Observer {
    std::function<void(const Opened&)> opened;
    std::function<void(const Harvest&)> harvested;
    // Nothing more will come though nobody asked to stop: a recording's end (""), or the sentence that says why.
    std::function<void(const std::string&)> over = {};
    // The sampler died or hung: no samples until it has been started again, if it is. The sentence says what happened.
    std::function<void(const std::string&)> broken = {};
};

struct MonitorOptions {
    SourceRequest request;
    DurNs warmup = 0;                     // left out of the statistics at the beginning
    std::size_t max_samples = 65'536;     // kept per device
    bool strict = false;                  // start() fails where it would go on without samples
    DurNs start_timeout = 2'000'000'000;  // how long start() waits for the first sample; negative: not at all
    std::string program;                  // the sampler's; "" looks for it
    Observer observer;
};

class Monitor {
public:
    explicit Monitor(MonitorOptions options);
    ~Monitor();
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Begins a region, forgetting an earlier one. Without `strict` it succeeds also when nothing can be sampled.
    Status start();
    // Ends it; within a second, whatever the driver does. Does nothing when it does not run.
    void stop();
    bool running() const;

    // Of each sampled device, so far or of the whole region; one without samples when nothing was sampled.
    std::vector<GpuSummary> summaries() const;
    // The readings kept of the index-th device, in order of time; empty beyond the last.
    std::vector<Reading> samples(std::size_t index) const;
    std::vector<SampledDevice> devices() const;
    TimeNs started() const;  // when start() was called, CLOCK_REALTIME

private:
    MonitorOptions options_;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpuprof
