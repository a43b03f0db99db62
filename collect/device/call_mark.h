// Which driver function is running: a page shared with the process that watches the sampler, so that after a hang or a
// crash it can be named, and left alone from then on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof {

struct CallMark {
    std::int64_t entered_ns;  // CLOCK_MONOTONIC; 0 when no call is running
    char function[64];
};
// Marks go to `mark` from now on; null ends it.
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
