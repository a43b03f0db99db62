// The live state in Prometheus' text exposition format 0.0.4. Names and values derive from core/schema/metrics.def: the
// metric's name with the base unit as suffix (util.gpu in % is gpu_profile_util_gpu_ratio, mem.used in MiB is
// gpu_profile_mem_used_bytes). Absent values have no line; a metric that no device reports has no HELP line either.
// Sources: https://prometheus.io/docs/instrumenting/exposition_formats/, https://prometheus.io/docs/practices/naming/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/live/live_state.h"

namespace gpuprof::inline cli {

// How a metric is exported: its name, such as "gpu_profile_util_gpu_ratio", and the factor for its values.
struct ExportedMetric {
    std::string name;
    double factor = 1;
    bool counter = false;  // only increases
};
ExportedMetric exported(const MetricSpec& spec);

// One metric. Its head is written before the first line, and not at all without a line.
class Family {
public:
    Family(std::string& page, std::string_view name, std::string_view type, std::string_view help)
        : page_(page), name_(name), type_(type), help_(help) {}
    // `suffix`: of the sample's name, as those of histograms have.
    void add(std::string_view labels, std::optional<double> value, std::string_view suffix = "");

private:
    std::string& page_;
    std::string_view name_, type_, help_;
    bool begun_ = false;
};
std::string metric_number(double value);

// A page of the text format 0.0.4 in OpenMetrics 1.0.
std::string open_metrics(std::string_view page);

// gpu, uuid and name.
std::string labels_of(const SampledDevice& device);

// The content of a label's quoted value: backslash, quote and line feed escaped.
std::string label_escaped(std::string_view text);

// The whole page; `now` is CLOCK_REALTIME. `trouble`: why sampling ended, "" while it runs.
std::string exposition(const LiveState& state, TimeNs now, std::string_view version, std::string_view problem);

// The same values under the names and in the units of NVIDIA's dcgm-exporter, with its labels, as far as they mean the same.
// Source: its etc/default-counters.csv and the field identifiers of DCGM.
std::string dcgm_exposition(const LiveState& state, TimeNs now, std::string_view host);

}  // namespace gpuprof::cli
