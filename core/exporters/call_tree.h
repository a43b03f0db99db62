// Device time by where it was asked for: annotations and operators around a call, then the kernel, copy or fill that it submitted.
// What no call is known of stands at the top.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/trace.h"

namespace gpuprof {

struct CallTree {
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct Node {
        std::uint32_t parent;  // comes before its children; kNone at the top
        std::string name;
        std::int32_t device = -1;  // of device work; -1: a place on the host
        DurNs device_ns = 0;       // of this node, without those below
        std::int64_t count = 0;    // how often it ran on a device
    };
    std::vector<Node> nodes;
};

CallTree call_tree(const Trace& trace);

}  // namespace gpuprof
