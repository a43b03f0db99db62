// What an importer makes of a fuzz target's bytes.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/model/build/trace_builder.h"
#include "io/importers/source/source.h"

namespace gpuprof::fuzz {

// Nothing when the importer refuses them.
inline std::optional<Trace> imported(Status (*import)(Source&, TraceBuilder&), std::string_view bytes) {
    auto source = memory_source("fuzz", bytes);
    if (!source) return {};
    TraceBuilder builder(Origin{});
    if (!import(**source, builder)) return {};
    return std::move(builder).finish();
}

// Parents come before their children, and every metric belongs to a node.
inline void check_call_tree(const Tables& tables) {
    for (Row row = 0; row < tables.call_node.rows; ++row)
        if (tables.call_node.parent.has(row) && tables.call_node.parent[row] >= tables.call_node.node[row])
            std::abort();
    for (Row row = 0; row < tables.call_metric.rows; ++row)
        if (tables.call_metric.node[row] >= static_cast<std::int64_t>(tables.call_node.rows)) std::abort();
}

// Every counter belongs to a profiled kernel.
inline void check_counters(const Tables& tables) {
    for (Row row = 0; row < tables.kernel_counter.rows; ++row) {
        std::int64_t launch = tables.kernel_counter.launch[row];
        if (launch < 1 || launch > static_cast<std::int64_t>(tables.profiled_kernel.rows)) std::abort();
    }
}

}  // namespace gpuprof::fuzz
