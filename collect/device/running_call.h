// Names the running driver function in a page shared with the process that watches the sampler. After a hang or crash
// the watcher can report the function and avoid it from then on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::inline device {

struct RunningCall {
    std::int64_t entered_ns;  // CLOCK_MONOTONIC; 0 if no call is running
    char function[64];
};
// Sends marks to `mark` from now on; null stops them.
void share_running_call(volatile RunningCall* mark);
// Marks the running call for its lifetime.
class RunningCallScope {
public:
    explicit RunningCallScope(std::string_view function);
    ~RunningCallScope();
    RunningCallScope(const RunningCallScope&) = delete;
    RunningCallScope& operator=(const RunningCallScope&) = delete;
};

}  // namespace gpuprof::device
