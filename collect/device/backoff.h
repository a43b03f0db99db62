// When to retry a failed operation: after `first`, then after twice the delay each time, up to `most`. Times come from
// monotonic_ns(), so setting the system clock has no effect.
#pragma once

#include <algorithm>

#include "core/base/ids.h"

namespace gpuprof::inline device {

class Backoff {
public:
    constexpr Backoff(DurNs first, DurNs max) : first_(first), max_(max) {}

    bool due(TimeNs now) const { return now >= retry_at_; }
    int failures() const { return failures_; }
    void fail(TimeNs now) {
        retry_at_ = now + std::min(max_, first_ << std::min(failures_, 30));
        ++failures_;
    }
    void reset() {
        failures_ = 0;
        retry_at_ = 0;
    }

private:
    DurNs first_, max_;
    TimeNs retry_at_ = 0;
    int failures_ = 0;
};

}  // namespace gpuprof::device
