// One recording, made ready to be compared: its steps, the part of it that they span, and its metrics.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/metrics.def"
#include "core/analyze/facts/facts.h"
#include "core/analyze/facts/step_finder.h"
#include "core/model/trace.h"
#include "core/schema/unit.h"

namespace gpuprof::compare {

enum class Metric {
#define GPUPROF_COMPARE_METRIC(id, unit, doc) id,
    GPUPROF_COMPARE_METRICS(GPUPROF_COMPARE_METRIC)
#undef GPUPROF_COMPARE_METRIC
};

struct MetricSpec {
    std::string_view name;
    Unit unit;
    std::string_view doc;
};
inline constexpr MetricSpec kMetrics[] = {
#define GPUPROF_COMPARE_METRIC(id, unit, doc) {#id, Unit::unit, doc},
    GPUPROF_COMPARE_METRICS(GPUPROF_COMPARE_METRIC)
#undef GPUPROF_COMPARE_METRIC
};
inline constexpr std::size_t kMetricCount = std::size(kMetrics);

struct Measured {
    std::optional<double> value;
    std::vector<double> samples;  // one per step, in order; empty where a metric has none
};

struct Run {
    std::unique_ptr<Trace> trace;  // from the first step to the last, or all of it
    std::unique_ptr<Facts> facts;  // of that
    Steps steps;
    std::array<Measured, kMetricCount> metrics;
    // Device work after the last step, of all, when it is so much that the lengths of steps are those of submitting work. Then
    // no step is a sample, and the time per step goes on to the end of the work.
    std::optional<double> backlog_pct;

    const Measured& metric(Metric which) const { return metrics[static_cast<std::size_t>(which)]; }
    // What totals are divided by: the steps, or 1.
    std::int64_t parts() const { return steps.steps.empty() ? 1 : static_cast<std::int64_t>(steps.steps.size()); }
};

Run run_of(Trace trace, const Options& options);

}  // namespace gpuprof::compare
