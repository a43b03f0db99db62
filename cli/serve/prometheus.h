// The live state in Prometheus' text exposition format 0.0.4. Names and values derive from core/schema/metrics.def: the
// metric's name with the base unit as suffix (util.gpu in % is gpu_profile_util_gpu_ratio, mem.used in MiB is
// gpu_profile_mem_used_bytes). Absent values have no line; a metric that no device reports has no HELP line either.
// Sources: https://prometheus.io/docs/instrumenting/exposition_formats/, https://prometheus.io/docs/practices/naming/.
#pragma once

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

// The content of a label's quoted value: backslash, quote and line feed escaped.
std::string label_escaped(std::string_view text);

// The whole page; `now` is CLOCK_REALTIME. `trouble`: why sampling ended, "" while it runs.
std::string exposition(const LiveState& state, TimeNs now, std::string_view version, std::string_view problem);

}  // namespace gpuprof::cli
