#include "collect/counters/counter_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collect/counters/counter_catalogue.def"

namespace gpuprof::counters {
namespace {

constexpr MetricSet kSets[] = {
#define GPUPROF_COUNTER_SET(id, name, doc) {name, doc},
    GPUPROF_COUNTER_SETS(GPUPROF_COUNTER_SET)
#undef GPUPROF_COUNTER_SET
        {"full", "Everything above."},
};

constexpr SetMetric kMetrics[] = {
#define GPUPROF_COUNTER_METRIC(set, name, chips_without) {#set, name, chips_without},
    GPUPROF_COUNTER_METRICS(GPUPROF_COUNTER_METRIC)
#undef GPUPROF_COUNTER_METRIC
};

struct Costly {
    std::string_view set, chip, metric;
};
constexpr Costly kCostly[] = {
#define GPUPROF_COUNTER_COSTLY_METRIC(set, chip, metric) {#set, chip, metric},
    GPUPROF_COUNTER_COSTLY(GPUPROF_COUNTER_COSTLY_METRIC)
#undef GPUPROF_COUNTER_COSTLY_METRIC
};

constexpr std::string_view kFull[] = {
#define GPUPROF_COUNTER_PART(set) #set,
    GPUPROF_COUNTER_FULL(GPUPROF_COUNTER_PART)
#undef GPUPROF_COUNTER_PART
};

void add(std::vector<std::string>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

void add_set(std::vector<std::string>& names, std::string_view set) {
    if (set == "full") {
        for (std::string_view part : kFull) add_set(names, part);
        return;
    }
    if (set == "sol") add_set(names, "triage");
    for (const SetMetric& metric : kMetrics)
        if (metric.set == set) add(names, metric.name);
}

// Names of metrics look like unit__what.submetric.
bool looks_like_metric(std::string_view name) {
    return name.find("__") != std::string_view::npos && name.find('.') != std::string_view::npos;
}

}  // namespace

std::span<const MetricSet> metric_sets() { return kSets; }
std::span<const SetMetric> set_metrics() { return kMetrics; }

std::vector<std::string> metrics_of(std::string_view set) {
    std::vector<std::string> names;
    add_set(names, set);
    return names;
}

std::vector<std::string> costly_metrics(std::string_view set, std::string_view chip) {
    std::vector<std::string> names;
    for (const Costly& each : kCostly)
        if (each.set == set && chip.starts_with(each.chip)) names.emplace_back(each.metric);
    return names;
}

Result<std::vector<std::string>> metrics_of_option(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (word.empty()) continue;
        std::size_t before = names.size();
        add_set(names, word);
        if (names.size() > before || !metrics_of(word).empty()) continue;
        if (!looks_like_metric(word)) {
            std::string sets;
            for (const MetricSet& set : kSets) sets += fmt::format("{}{}", sets.empty() ? "" : ", ", set.name);
            return Error{ExitCode::usage,
                         fmt::format("'{}' is neither a set ({}) nor a metric; a metric has a unit and a submetric, "
                                     "such as dram__bytes_read.sum; gpu-profile counters --list-metrics lists them",
                                     word, sets)};
        }
        add(names, word);
    }
    if (names.empty()) return Error{ExitCode::usage, "no counters to measure; name a set or a metric"};
    return names;
}

}  // namespace gpuprof::counters
