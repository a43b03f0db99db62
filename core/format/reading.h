// The metrics of one device at one time, as sampled and as stored in recorded series.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline format {

// Values that are unsupported, not permitted, implausible or not due are absent, never 0.
struct Reading {
    TimeNs time = 0;          // CLOCK_REALTIME, when the reading began
    std::int32_t device = 0;  // as users number it
    MetricSet present;
    std::array<double, kMetricCount> values{};  // in the metric's unit; 0 if absent

    void set(Metric metric, double value) {
        present.add(metric);
        values[index_of(metric)] = value;
    }
    std::optional<double> get(Metric metric) const {
        if (!present.has(metric)) return std::nullopt;
        return values[index_of(metric)];
    }
};

}  // namespace gpuprof::format
