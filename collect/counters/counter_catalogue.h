// Sets of kernel counters, from counter_catalogue.def.
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
// What a set adds to those that it contains, with the chips that lack it ("GA100 TU102"). `full` adds nothing.
struct SetMetric {
    std::string_view set, name, chips_without;
};
std::span<const SetMetric> set_metrics();
// The metrics of a set in the best order; empty for an unknown set.
std::vector<std::string> metrics_of(std::string_view set);
// The metrics of a set that would cost a pass more on a chip, and that are not measured there.
std::vector<std::string> costly_metrics(std::string_view set, std::string_view chip);

// The names that an option stands for: a set, or metrics separated by commas. Sets and metrics can be mixed. A repeated
// name is kept once.
Result<std::vector<std::string>> metrics_of_option(std::string_view text);

}  // namespace gpuprof::counters
