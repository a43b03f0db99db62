// Locks the clocks of the first GPU to their base or boost frequency while counters are measured, so that durations of
// different runs can be compared. The driver keeps a lock when the process that took it dies, and a replay that hangs
// ends its process: so a helper process holds the lock. It unlocks when told to, or when the launcher is gone for any
// reason.
#pragma once

#include <memory>
#include <string>

#include "collect/counters/counter_wire.h"
#include "collect/device/process_link.h"
#include "core/base/result.h"

namespace gpuprof::counters {

class ClockLock {
public:
    // `cupti`: path of libcupti, 13.4 or later; `mode`: base or boost.
    static Result<std::unique_ptr<ClockLock>> take(const std::string& cupti, const std::string& mode);
    // Unlocks, and waits for it.
    ~ClockLock();
    ClockLock(const ClockLock&) = delete;
    ClockLock& operator=(const ClockLock&) = delete;

    // Another tool had locked the clocks, and its lock stays.
    bool external() const { return external_; }

private:
    explicit ClockLock(std::unique_ptr<ProcessLink> link) : link_(std::move(link)) {}
    std::unique_ptr<ProcessLink> link_;
    bool external_ = false;
};

// In the helper process: takes the lock, answers, and holds it until the other end says more or is closed.
int hold_clocks(const ClockRequest& request);

}  // namespace gpuprof::counters
