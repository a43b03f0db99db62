// Lists of metrics in words, grouped by reason.
#include "collect/device/unreported_metrics.h"

#include <fmt/format.h>

namespace gpuprof::inline device {

std::string names_of(MetricSet metrics) {
    std::vector<std::string_view> names;
    MetricSet gpm = MetricSet::of(Cadence::gpm);
    bool all_gpm = (metrics & gpm) == gpm;
    for (const MetricSpec& spec : kMetrics)
        if (metrics.has(spec.metric) && !(all_gpm && gpm.has(spec.metric))) names.push_back(spec.name);
    if (all_gpm) names.push_back("gpm.*");
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

void UnreportedMetrics::add(MetricSet metrics, std::string_view reason) {
    if (metrics.empty()) return;
    for (Group& group : groups_) {
        if (group.reason != reason) continue;
        group.metrics = group.metrics | metrics;
        return;
    }
    groups_.push_back({std::string(reason), metrics});
}

void UnreportedMetrics::report(TimeNs time, std::int32_t device, std::vector<Fault>& to) {
    for (const Group& group : groups_)
        to.push_back({time, device, group.metrics, false,
                      fmt::format("GPU {} does not report {}: {}.", device, names_of(group.metrics), group.reason)});
    groups_.clear();
}

}  // namespace gpuprof::device
