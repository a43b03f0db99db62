// The metrics of a device, one row per NVML call: which metrics, which function, and how to read it. GPM has state and
// lives elsewhere (gpm.h).
// A new metric is one line in metrics.def and one row in queries.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collect/device/device_reading.h"
#include "collect/device/nvml/nvml_api.h"

namespace gpuprof::inline device::nvml {

// GPU performance metrics (GPM) of Hopper and later: SM activity between two samples of the driver's counters. Each
// reading takes a sample (0.8 ms on an H200) and returns the difference to the previous one, so the first reading
// returns nothing. Works alongside CUPTI and other users; needs no privileges. A MIG instance is read through its GPU.
class Gpm {
public:
    Gpm() = default;
    ~Gpm() { close(); }
    Gpm(const Gpm&) = delete;
    Gpm& operator=(const Gpm&) = delete;

    // Starts for a GPU, or for one instance of it.
    Return open(const Api& api, Device gpu, std::optional<unsigned> instance);
    bool is_open() const { return api_ != nullptr; }
    // Sets the metrics of `wanted` that it can; failed ones go to `failed` with their codes.
    Return read(MetricSet wanted, Reading& to, std::vector<std::pair<Metric, Return>>& failed);
    // Frees the samples; call before nvmlShutdown.
    void close();

private:
    Return take(GpmSample sample);

    const Api* api_ = nullptr;
    Device gpu_ = nullptr;
    std::optional<unsigned> instance_;
    GpmSample previous_ = nullptr, current_ = nullptr;
    bool has_previous_ = false;
    std::unique_ptr<GpmMetricsGet> request_;
};

struct Query {
    MetricSet metrics;
    const char* function;
    // Sets all of `metrics` in `to` if it returns kSuccess.
    Return (*read)(const Api& api, Device device, Reading& to);
};

std::span<const Query> queries();

// Memory in bytes, from the newest available function.
Return read_memory(const Api& api, Device device, Memory& memory);

}  // namespace gpuprof::device::nvml
