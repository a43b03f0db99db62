// Device time by origin: annotations and operators around a call, then the kernel, copy or fill that it submitted. Work
// without a known call is at the top.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof::inline exporters {

struct CallTree {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct Node {
        std::uint32_t parent;  // comes before its children; kNone at the top
        std::string name;
        std::int32_t device = -1;  // of device work; -1: a node on the host
        DurNs device_ns = 0;       // exclusive of child nodes
        std::int64_t count = 0;    // number of executions on a device
    };
    std::vector<Node> nodes;
};

CallTree call_tree(const Trace& trace);

}  // namespace gpuprof::exporters
