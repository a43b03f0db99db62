// GPU performance metrics of Hopper and later: what the multiprocessors did between two samples of the driver's counters.
// Reading takes a sample (0.8 ms on an H200) and answers the difference to the one before, so the first answers nothing.
// Works beside CUPTI and other users; needs no privilege. A MIG instance is read through its GPU.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collect/device/nvml/api.h"
#include "collect/device/reading.h"

namespace gpuprof::nvml {

class Gpm {
public:
    Gpm() = default;
    ~Gpm() { close(); }
    Gpm(const Gpm&) = delete;
    Gpm& operator=(const Gpm&) = delete;

    // Starts for a GPU, or one instance of it.
    Return open(const Api& api, Device gpu, std::optional<unsigned> instance);
    bool is_open() const { return api_ != nullptr; }
    // Sets what it can of `wanted`; metrics that failed go to `failed` with their codes.
    Return read(MetricSet wanted, Reading& to, std::vector<std::pair<Metric, Return>>& failed);
    // Frees the samples; before nvmlShutdown.
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

}  // namespace gpuprof::nvml
