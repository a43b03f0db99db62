// One terminal line with the newest sample of each device while a command runs; erased when it is cleared.
#pragma once

#include <map>

#include "collect/device/device_reading.h"

namespace gpuprof::inline cli {

class LiveLine {
public:
    // Newest reading per device; redrawn at most ten times a second.
    void show(const PollResult& polled);
    void clear();

private:
    std::map<std::int32_t, Reading> newest_;
    TimeNs drawn_ = 0;
    bool visible_ = false;
};

}  // namespace gpuprof::cli
