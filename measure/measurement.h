// What a benchmark found out about one function: plain values, a row of a ResultTable (so that every report and comparison
// works on it), and a JSON object for other languages. Unknown is absent, never 0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json_writer.h"
#include "core/model/result_table.h"
#include "measure/comparison.h"
#include "measure/device_state.h"
#include "measure/statistics.h"
#include "measure/stopping.h"
#include "measure/warmup.h"

namespace gpuprof::measure {

struct Measurement {
    std::string name;
    std::string timer;  // "cuda events", "host"
    std::string device_name;
    std::int32_t device = -1;     // -1: none
    bool cold = false;            // the L2 cache was written over before every sample
    bool graph = false;           // replays of a CUDA graph
    bool blocking = false;        // gaps between launches are not in the times
    std::int64_t batch = 1;       // calls per sample
    std::int64_t calls = 0;       // in all samples, also those left out
    std::vector<double> samples;  // ns per call, in order of time
    Statistics statistics;
    WarmupSeen warmup;
    std::optional<double> host_ns;   // median of what the host spent on one call; absent with the host's timer
    std::optional<double> stray_ns;  // work beyond the stream's last event, median of the warm-up
    std::size_t throttled_left_out = 0, throttled_kept = 0;  // samples
    std::size_t invalid = 0;                                 // samples that the timer could not take and took again
    DeviceConditions conditions;
    std::optional<double> energy_per_call_j, energy_per_call_uncertainty_j;
    std::optional<double> cycles;  // median times the mean SM clock
    std::optional<double> bytes_per_s, flop_per_s;
    std::optional<double> bytes_pct, flop_pct;  // of the peak
    std::optional<double> peak_bytes_per_s,
        peak_flop_per_s;      // of the device; only where there is a rate to hold against it
    std::string peak_source;  // "" where there is no peak
    StopReason stopped = StopReason::timeout;
    DurNs sampling_time = 0;
    std::vector<std::string> notes;
};

void write_json(const Statistics& statistics, JsonWriter& json);
void write_json(const Comparison& comparison, JsonWriter& json);
// With the samples.
void write_json(const Measurement& measurement, JsonWriter& json);

// A row a measurement.
ResultTable table_of(std::span<const Measurement> measurements);
std::span<const ResultColumn> measurement_columns();

}  // namespace gpuprof::measure
