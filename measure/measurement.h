// The result of benchmarking one function: plain values, a row of a ResultTable (so that every report and comparison
// works on it), and a JSON object for other languages. Unknown values are absent, never 0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/text/json_writer.h"
#include "core/model/result_table.h"
#include "measure/bench_comparison.h"
#include "measure/device_state.h"
#include "measure/statistics.h"
#include "measure/stopping.h"

namespace gpuprof::measure {

struct Measurement {
    std::string name;
    std::string timer;  // "cuda events", "host"
    std::string device_name;
    std::int32_t device = -1;     // -1: none
    bool cold = false;            // the L2 cache was overwritten before every sample
    bool graph = false;           // replays of a CUDA graph
    bool blocking = false;        // times exclude gaps between launches
    std::int64_t batch = 1;       // calls per sample
    std::int64_t calls = 0;       // in all samples, including excluded ones
    std::vector<double> samples;  // ns per call, in order of time
    Statistics statistics;
    WarmupResult warmup;
    // With the host timer: threads that ran or waited for a CPU for a tenth of the sampling, and their share of waiting.
    std::optional<std::int64_t> threads;
    std::optional<double> waiting;
    std::optional<double> host_ns;   // median host time of one call; absent with the host timer
    std::optional<double> stray_ns;  // work beyond the stream's last event, median of the warm-up
    std::size_t throttled_left_out = 0, throttled_kept = 0;  // samples
    std::size_t invalid = 0;                                 // samples that failed and were repeated
    DeviceConditions conditions;
    std::optional<double> energy_per_call_j, energy_per_call_uncertainty_j;
    std::optional<double> cycles;  // median times the mean SM clock
    std::optional<double> bytes_per_s, flop_per_s;
    std::optional<double> bytes_pct, flop_pct;  // of the peak
    std::optional<double> peak_bytes_per_s,
        peak_flop_per_s;      // of the device; only if there is a rate to compare with it
    std::string peak_source;  // "" without a peak
    StopReason stopped = StopReason::timeout;
    DurNs sampling_time = 0;
    std::vector<std::string> notes;
};

void write_json(const Statistics& statistics, JsonWriter& json);
void write_json(const Comparison& comparison, JsonWriter& json);
// Includes the samples.
void write_json(const Measurement& measurement, JsonWriter& json);

// One row per measurement.
ResultTable table_of(std::span<const Measurement> measurements);
std::span<const ResultColumn> measurement_columns();

}  // namespace gpuprof::measure
