// The set `source`: counters of instructions (SASS metrics), which need patched code and are never measured together with
// hardware counters. CUPTI's names; all exist on GH100, GA100, TU102 and GB100. Facts of the analyses know them by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/counters/counter_catalogue.h"

namespace gpuprof::counters {

inline constexpr std::string_view kSourceSet = "source";
inline constexpr std::string_view kSourceDoc =
    "By source line: executed instructions, sectors and wavefronts, and what they would be at best.";

struct SourceMetric {
    std::string_view name, unit;
};
inline constexpr SourceMetric kSourceMetrics[] = {
    {"smsp__sass_inst_executed", "inst"},
    {"smsp__sass_sectors_mem_global", "sector"},
    {"smsp__sass_sectors_mem_global_ideal", "sector"},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", "wavefront"},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal", "wavefront"},
};

inline std::vector<std::string> source_metrics() {
    std::vector<std::string> names;
    for (const SourceMetric& metric : kSourceMetrics) names.emplace_back(metric.name);
    return names;
}

// The metrics that --set stands for: of this set, or of the catalogue.
inline Result<std::vector<std::string>> wanted_metrics(std::string_view set) {
    if (set == kSourceSet) return source_metrics();
    return metrics_of_option(set);
}

}  // namespace gpuprof::counters
