// One recording, prepared for comparison: its steps, the part of it that they span, and its metrics.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/stat.h"
#include "analyze/facts/steps/step_finder.h"
#include "compare/comparison_metrics.def"
#include "compare/energy_comparison.h"
#include "core/model/interval.h"
#include "core/model/trace.h"
#include "core/schema/unit.h"

namespace gpuprof::compare {

// Device time within an interval: every instant of every device belongs to exactly one kernel, kind of copy, kind of
// memset, or cause of idle time. Concurrent kernels:
// the one that began first; then copies, then memsets, then idle time. Work that crosses an end of the interval is cut
// there, so that the parts add up to the interval times the devices.
struct DeviceTime {
    std::size_t devices = 0;                            // with work in the interval
    std::vector<std::pair<StringId, WideSum>> kernels;  // by name; kNoString for kernels without a name
    std::map<std::pair<std::string_view, std::string>, WideSum> others;  // by kind (memcpy, memset, idle) and name
};

DeviceTime device_time(const Facts& facts, Interval stretch);

enum class Metric {
#define GPUPROF_COMPARE_METRIC(id, unit, words, doc) id,
    GPUPROF_COMPARE_METRICS(GPUPROF_COMPARE_METRIC)
#undef GPUPROF_COMPARE_METRIC
};

struct MetricSpec {
    std::string_view name;
    Unit unit;
    std::string_view words, doc;
};
inline constexpr MetricSpec kMetrics[] = {
#define GPUPROF_COMPARE_METRIC(id, unit, words, doc) {#id, Unit::unit, words, doc},
    GPUPROF_COMPARE_METRICS(GPUPROF_COMPARE_METRIC)
#undef GPUPROF_COMPARE_METRIC
};
inline constexpr std::size_t kMetricCount = std::size(kMetrics);

struct Measured {
    std::optional<double> value;
    std::vector<double> samples;  // one per step, in order; empty for metrics without samples
};

struct Run {
    std::unique_ptr<Trace> trace;  // what began from the first step to the end of the last, or everything
    std::unique_ptr<Facts> facts;  // of that trace
    Steps steps;
    Interval span;    // from the first step to the end of the last, or everything: the basis of totals
    DeviceTime time;  // of the span, including work that began before it
    std::array<Measured, kMetricCount> metrics;
    EnergyOfRun energy;
    // Share of device work after its step, if the steps are those of a host that runs ahead: their durations only
    // cover submitting work. Then no step is a sample, and the span extends to the end of the work.
    std::optional<double> backlog_pct;
    std::size_t warm_up = 0;    // steps excluded at the beginning because they took much longer than the others
    std::string steps_because;  // why there are no steps, or others than those of the host

    const Measured& metric(Metric which) const { return metrics[static_cast<std::size_t>(which)]; }
    // The divisor of totals: the number of steps, or 1.
    std::int64_t parts() const { return steps.steps.empty() ? 1 : static_cast<std::int64_t>(steps.steps.size()); }
    // The divisor that turns the time of all devices into that of one.
    std::int64_t devices() const { return std::max<std::int64_t>(1, static_cast<std::int64_t>(time.devices)); }
};

// By the most suitable steps, or by those of a given method.
Run run_of(Trace trace, const Options& options);
Run run_of(Trace trace, const Options& options, StepMethod method);

// Two recordings, by steps found with the same method.
std::array<Run, 2> runs_by_same_steps(Trace base, Trace next, const Options& options);

}  // namespace gpuprof::compare
