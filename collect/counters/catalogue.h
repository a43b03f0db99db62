// Sets of kernel counters, from catalogue.def.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof::counters {

struct MetricSet {
    std::string_view name, doc;
};
// In the order of increasing cost; the last one is `full`.
std::span<const MetricSet> metric_sets();
// The metrics of a set in the best order; empty for an unknown set.
std::vector<std::string> metrics_of(std::string_view set);
// Whether the catalogue says that a chip lacks a metric. Chips that the catalogue does not list lack none.
bool lacks(std::string_view chip, std::string_view metric);

// The names that an option stands for: a set, or metrics separated by commas. Sets and metrics can be mixed. A repeated
// name is kept once.
Result<std::vector<std::string>> metrics_of_option(std::string_view text);

}  // namespace gpuprof::counters
