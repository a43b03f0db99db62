// Continuous sampling while somebody watches: a Monitor whose messages fill a LiveState. If sampling ends by itself
// (the driver failed repeatedly), it restarts every half minute; the end of a replayed recording is final. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "cli/command_options.h"
#include "cli/live/live_state.h"
#include "collect/device/monitor.h"

namespace gpuprof::inline cli {

// What top and serve watch.
struct LiveOptions {
    std::string devices = "all", backend = "auto";
    double interval_s = 1;
};

void declare_live_options(CommandLine& line, LiveOptions& live);

// Refuses a backend that samples no device.
Status check(const LiveOptions& live);

class LiveFeed {
public:
    explicit LiveFeed(const LiveOptions& live);

    // Waits for the first reading; an error says in one sentence why there will be none.
    Status start();
    void stop() { monitor_->stop(); }
    // Calls read(state) under the lock.
    template <class Read>
    auto look(Read&& read) const {
        std::lock_guard lock(mutex_);
        return read(state_);
    }
    // Whether a replayed recording has ended.
    bool ended() const;
    // Why sampling ended by itself; "" while it runs.
    std::string problem() const;
    // Call regularly: restarts sampling when due, without waiting for it.
    void restart(TimeNs now_monotonic);

private:
    MonitorOptions options(bool wait);
    void sampling_over(const std::string& why);

    const LiveOptions options_;
    mutable std::mutex mutex_;
    LiveState state_;
    std::condition_variable changed_;
    bool any_reading_ = false, ended_ = false;
    std::string problem_;
    TimeNs ended_at_ = 0;               // CLOCK_MONOTONIC; 0 while sampling runs
    std::unique_ptr<Monitor> monitor_;  // last: its thread uses the others
};

}  // namespace gpuprof::cli
