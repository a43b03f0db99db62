// Whether each launch of a CUDA graph has all its nodes: every launch of one graph executes the same ones.
#pragma once

#include <cstdint>

#include "core/base/pod_vector.h"

namespace gpuprof::inline model {

struct Links;
struct Tables;

struct GraphNodes {
    std::uint64_t missing = 0;    // nodes that another launch of the same graph executed
    std::uint64_t unchecked = 0;  // launches that cannot be compared with another one
};

// `graph_launches`: for each api_call row, whether it launches a graph.
GraphNodes check_graph_nodes(const Tables& tables, const Links& links, const PodVector<std::uint8_t>& graph_launches);

}  // namespace gpuprof::model
