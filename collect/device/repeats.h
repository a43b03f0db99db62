// Statistics over repeated runs, for the figures that people compare; one value per run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/device/summary.h"

namespace gpuprof::inline device {

struct RunStats {
    std::string_view name, unit;
    std::vector<double> values;  // of the runs that have it
    double mean = 0, min = 0, max = 0;
    std::optional<double> std;  // with n - 1; absent below two runs
};

// duration, util_gpu, power, energy, peak_memory, peak_temp, except those that no run has.
std::vector<RunStats> run_stats(const std::vector<GpuSummary>& runs);
std::string repeats_json(const std::vector<GpuSummary>& runs);
std::string repeats_text(const std::vector<GpuSummary>& runs);
// The first device of each run.
std::vector<GpuSummary> first_devices(const std::vector<std::vector<GpuSummary>>& runs);

}  // namespace gpuprof::device
