// Names the running driver function in a page shared with the process that watches the sampler. After a hang or crash
// the watcher can report the function and avoid it from then on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof {

struct CallMark {
    std::int64_t entered_ns;  // CLOCK_MONOTONIC; 0 if no call is running
    char function[64];
};
// Sends marks to `mark` from now on; null stops them.
void share_call_mark(volatile CallMark* mark);
// Marks the running call for its lifetime.
class MarkedCall {
public:
    explicit MarkedCall(std::string_view function);
    ~MarkedCall();
    MarkedCall(const MarkedCall&) = delete;
    MarkedCall& operator=(const MarkedCall&) = delete;
};

}  // namespace gpuprof
