#include "collect/device/repeats.h"

#include <fmt/format.h>

#include "core/base/text/json_writer.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline device {
namespace {

struct Figure {
    std::string_view name, unit;
    std::optional<double> GpuSummary::*field;
};
constexpr Figure kFigures[] = {
    {"duration", "s", &GpuSummary::duration_s},
    {"util_gpu", "%", &GpuSummary::util_gpu_mean},
    {"power", "W", &GpuSummary::power_mean_w},
    {"energy", "J", &GpuSummary::energy_j},
    {"peak_memory", "MiB", &GpuSummary::mem_used_max_mb},
    {"peak_temp", "C", &GpuSummary::temp_max_c},
};

}  // namespace

std::vector<RunStats> run_stats(const std::vector<GpuSummary>& runs) {
    std::vector<RunStats> stats;
    for (const Figure& figure : kFigures) {
        RunStats of{figure.name, figure.unit, {}, 0, 0, 0, {}};
        Moments moments;
        for (const GpuSummary& run : runs)
            if (const std::optional<double>& value = run.*figure.field) {
                of.values.push_back(*value);
                moments.add(*value);
            }
        if (of.values.empty()) continue;
        of.mean = *moments.mean();
        of.min = *moments.min();
        of.max = *moments.max();
        of.std = moments.std();
        stats.push_back(of);
    }
    return stats;
}

std::string repeats_json(const std::vector<GpuSummary>& runs) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    for (const RunStats& stats : run_stats(runs)) {
        json.key(stats.name);
        json.begin_object();
        json.member("unit", stats.unit);
        json.key("mean");
        json.real(stats.mean);
        json.key("std"), stats.std ? json.real(*stats.std) : json.null();
        json.key("min");
        json.real(stats.min);
        json.key("max");
        json.real(stats.max);
        json.key("values");
        json.begin_array();
        for (double value : stats.values) json.real(value);
        json.end_array();
        json.end_object();
    }
    json.end_object();
    std::string text = sink.text();
    if (!text.empty() && text.back() == '\n') text.pop_back();  // the writer ends a document with a line feed
    return text;
}

std::string repeats_text(const std::vector<GpuSummary>& runs) {
    std::string text = fmt::format("over {} runs\n", runs.size());
    for (const RunStats& stats : run_stats(runs))
        text += fmt::format("  {:<12}mean {:.4g} {}{}, {:.4g} to {:.4g}\n", stats.name, stats.mean, stats.unit,
                            stats.std ? " +- " + readable_deviation(*stats.std) : "", stats.min, stats.max);
    return text;
}

std::vector<GpuSummary> first_devices(const std::vector<std::vector<GpuSummary>>& runs) {
    std::vector<GpuSummary> first;
    for (const std::vector<GpuSummary>& run : runs) first.push_back(run.front());
    return first;
}

}  // namespace gpuprof::device
