// The live state in Prometheus' text exposition format 0.0.4. Names and values follow from core/schema/metrics.def: the
// metric's name with the base unit as suffix (util.gpu in % is gpu_profile_util_gpu_ratio, mem.used in MiB is
// gpu_profile_mem_used_bytes). What is absent has no line; a metric that no device has has no HELP either.
// Sources: https://prometheus.io/docs/instrumenting/exposition_formats/, https://prometheus.io/docs/practices/naming/.
#pragma once

#include <string>
#include <string_view>

#include "cli/live/state.h"

namespace gpuprof {

// How a metric is exported: "gpu_profile_util_gpu_ratio", and what its values are multiplied with.
struct ExportedMetric {
    std::string name;
    double factor = 1;
    bool counter = false;  // only grows
};
ExportedMetric exported(const MetricSpec& spec);

// A label's value between quotes, without them: backslash, quote and line end escaped.
std::string label_escaped(std::string_view text);

// The whole page; `now` is CLOCK_REALTIME. `trouble` is why sampling ended, "" while it goes on.
std::string exposition(const LiveState& state, TimeNs now, std::string_view version, std::string_view trouble);

}  // namespace gpuprof
