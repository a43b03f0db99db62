// Words of the table graph_node.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline model {

namespace graph_action {
inline constexpr std::string_view kCreated = "created", kCloned = "cloned", kUpdated = "updated";
}

// CUgraphNodeType (cuda.h 13.5); "": unknown.
constexpr std::string_view graph_node_kind(std::uint32_t type) {
    constexpr std::string_view kNames[] = {"kernel",
                                           "memcpy",
                                           "memset",
                                           "host",
                                           "child graph",
                                           "empty",
                                           "wait event",
                                           "record event",
                                           "signal semaphore",
                                           "wait semaphore",
                                           "allocation",
                                           "release",
                                           "memory operations",
                                           "conditional"};
    return type < sizeof kNames / sizeof *kNames ? kNames[type] : std::string_view();
}

}  // namespace gpuprof::model
