// The format is version 1.0.0 of nvbench's JSON (its nvbench/json_printer.cu; tags: nvbench/detail/measure_cold.cu,
// measure_hot.cu, measure_cpu_only.cxx). Each of our benchmarks becomes one benchmark with one state and no axes.
// Figures are seconds, written as text like nvbench's: cold timings are nv/cold, hot ones and graphs nv/batch, timings
// by the host clock nv/cpu_only.
#include "cli/bench/nvbench.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "core/base/text/json_writer.h"

namespace gpuprof::inline cli {
namespace {

// One figure of a state.
struct Summary {
    std::string tag;
    std::string_view name, hint, doc;
    std::optional<double> value;
    bool integer = false, hidden = true;
};

std::optional<double> seconds(std::optional<double> ns) { return ns ? std::optional(*ns / 1e9) : std::nullopt; }

// The figures that nvbench derives from a set of times; its relative figures are shares.
std::vector<Summary> time_summaries(const std::string& prefix, const measure::Statistics& s) {
    if (s.count == 0) return {};
    double range = s.p75 - s.p25;
    auto of_median = s.median > 0 ? std::optional(range / s.median) : std::nullopt;
    return {
        {prefix + "/min", "Min", "duration", "Shortest sample", seconds(s.min)},
        {prefix + "/max", "Max", "duration", "Longest sample", seconds(s.max)},
        {prefix + "/mean", "Time", "duration", "Mean of the samples", seconds(s.mean), false, false},
        {prefix + "/stdev/absolute", "Noise", "duration", "Standard deviation of the samples", seconds(s.std)},
        {prefix + "/stdev/relative", "Noise", "percentage", "Standard deviation over the mean", s.noise, false, false},
        {prefix + "/q1", "Q1", "duration", "First quartile of the samples", seconds(s.p25)},
        {prefix + "/median", "Median", "duration", "Median of the samples", seconds(s.median), false, false},
        {prefix + "/q3", "Q3", "duration", "Third quartile of the samples", seconds(s.p75)},
        {prefix + "/iqr/absolute", "IQR", "duration", "Interquartile range of the samples", seconds(range)},
        {prefix + "/iqr/relative", "Rel IQR", "percentage", "Interquartile range over the median", of_median},
    };
}

std::vector<Summary> summaries_of(const measure::Measurement& m) {
    std::string kind = m.cold && !m.graph ? "nv/cold" : "nv/batch";
    if (m.device < 0) kind = "nv/cpu_only";
    std::vector<Summary> all{{kind + "/sample_size", "Samples", "sample_size", "Calls in the counted samples",
                              static_cast<double>(m.statistics.count) * static_cast<double>(m.batch), true, false}};
    for (Summary& each : time_summaries(kind + (m.device < 0 ? "/time/cpu" : "/time/gpu"), m.statistics))
        all.push_back(std::move(each));
    all.push_back({kind + "/time/cpu/median", "Median CPU Time", "duration", "Median host time of one call",
                   m.device < 0 ? std::nullopt : seconds(m.host_ns)});
    std::optional<double> clock = m.conditions.sm_clock_mhz;
    all.push_back({kind + "/sm_clock_rate/mean", "Clock Rate", "frequency", "Mean SM clock",
                   clock ? std::optional(*clock * 1e6) : std::nullopt});
    all.push_back({kind + "/bw/global/bytes_per_second", "GlobalMem BW", "byte_rate",
                   "Throughput of the declared bytes", m.bytes_per_s, false, false});
    all.push_back({kind + "/bw/global/utilization", "BWUtil", "percentage", "Share of the device's peak bandwidth",
                   m.bytes_pct ? std::optional(*m.bytes_pct / 100) : std::nullopt, false, false});
    all.push_back({kind + "/walltime", "Walltime", "duration", "Total sampling time",
                   seconds(static_cast<double>(m.sampling_time))});
    return all;
}

void write_summary(const Summary& summary, JsonWriter& json) {
    json.begin_object();
    json.member("tag", summary.tag);
    json.member("name", summary.name);
    json.member("description", summary.doc);
    json.member("hint", summary.hint);
    if (summary.hidden) json.member("hide", "Hidden by default.");
    json.key("data");
    json.begin_array();
    json.begin_object();
    json.member("name", "value");
    json.member("type", summary.integer ? "int64" : "float64");
    json.member("value", summary.integer ? fmt::format("{:.0f}", *summary.value) : fmt::format("{}", *summary.value));
    json.end_object();
    json.end_array();
    json.end_object();
}

void write_rules(const std::optional<measure::StoppingOptions>& settings, JsonWriter& json) {
    if (!settings) return;
    json.member("min_samples", static_cast<std::int64_t>(settings->min_samples));
    json.key("timeout");
    json.real(static_cast<double>(settings->timeout) / 1e9);
}

void write_device_id(const measure::Measurement& m, JsonWriter& json) {
    m.device >= 0 ? json.integer(m.device) : json.null();
}

void write_state(const measure::Benchmark& benchmark, JsonWriter& json) {
    const measure::Measurement& m = benchmark.measurement;
    json.begin_object();
    json.member("name", m.device >= 0 ? fmt::format("Device={}", m.device) : "");
    write_rules(benchmark.settings, json);
    json.key("device");
    write_device_id(m, json);
    json.member("type_config_index", std::int64_t{0});
    json.key("axis_values");
    json.null();
    json.key("summaries");
    json.begin_array();
    for (const Summary& summary : summaries_of(m))
        if (summary.value) write_summary(summary, json);
    json.end_array();
    json.key("is_skipped");
    json.boolean(false);
    json.end_object();
}

void write_benchmark(const measure::Benchmark& benchmark, std::int64_t index, JsonWriter& json) {
    json.begin_object();
    json.member("name", benchmark.measurement.name);
    json.member("index", index);
    write_rules(benchmark.settings, json);
    json.key("devices");
    json.begin_array();
    if (benchmark.measurement.device >= 0) write_device_id(benchmark.measurement, json);
    json.end_array();
    json.key("axes");
    json.null();
    json.key("states");
    json.begin_array();
    write_state(benchmark, json);
    json.end_array();
    json.end_object();
}

void write_meta(const measure::BenchDocument& document, JsonWriter& json) {
    json.key("meta");
    json.begin_object();
    json.key("argv");
    json.begin_array();
    json.text(document.command_line);
    json.end_array();
    json.key("version");
    json.begin_object();
    json.key("json");
    json.begin_object();
    json.member("major", std::int64_t{1});
    json.member("minor", std::int64_t{0});
    json.member("patch", std::int64_t{0});
    json.member("string", "1.0.0");
    json.end_object();
    json.key("gpu-profile");
    json.begin_object();
    json.member("string", document.version);
    json.end_object();
    json.end_object();
    json.end_object();
}

void write_devices(const measure::BenchDocument& document, JsonWriter& json) {
    std::map<std::int32_t, std::string> devices;
    for (const measure::Benchmark& each : document.benchmarks)
        if (each.measurement.device >= 0) devices[each.measurement.device] = each.measurement.device_name;
    json.key("devices");
    json.begin_array();
    for (const auto& [id, name] : devices) {
        json.begin_object();
        json.member("id", std::int64_t{id});
        json.member("name", name);
        json.end_object();
    }
    json.end_array();
}

}  // namespace

void write_nvbench(const measure::BenchDocument& document, Sink& sink) {
    constexpr std::size_t kMaxLineDepth = 7;
    JsonWriter json(sink, kMaxLineDepth);
    json.begin_object();
    write_meta(document, json);
    write_devices(document, json);
    json.key("benchmarks");
    json.begin_array();
    std::int64_t index = 0;
    for (const measure::Benchmark& each : document.benchmarks) write_benchmark(each, index++, json);
    json.end_array();
    json.end_object();
}

}  // namespace gpuprof::cli
