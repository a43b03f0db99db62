// The thread that listens to a sampler during one region: it feeds the tally, notices when the driver hangs or the sampler
// dies, says which driver function it was, and starts another sampler that leaves that function alone.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "collect/device/monitor.h"
#include "collect/device/sampler_link.h"
#include "collect/device/tally.h"

namespace gpuprof {

class Watch {
public:
    // Starts sampling at once.
    explicit Watch(const MonitorOptions& options);
    // Stops, if that has not happened.
    ~Watch();

    // Until the first reading, a refusal, or the time is over; what went wrong with opening, if anything.
    Status wait_ready(DurNs timeout);
    // The region begins now rather than at construction (after a wait for the first reading).
    void begin();
    void stop();

    pid_t owner() const { return owner_; }
    TimeNs created() const { return created_; }
    // Calls read(tally, region) under the lock.
    template <class Read>
    auto inspect(Read&& read) const {
        std::lock_guard lock(mutex_);
        return read(tally_, RegionBounds{began_ + options_.warmup, ended_ != 0 ? ended_ : now_for_region()});
    }

private:
    enum class Outcome { finished, refused, hung, died };
    static TimeNs now_for_region();
    void run();
    Outcome converse();
    bool open_link();
    void take(const Message& message);
    bool explain(Outcome outcome);  // whether another sampler may be tried
    bool pause(DurNs length);       // false when stopping
    void refuse(ExitCode code, const std::string& sentence);

    const MonitorOptions options_;
    const pid_t owner_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Tally tally_;
    SourceRequest request_;  // with what must be avoided
    std::unique_ptr<SamplerLink> link_;
    const TimeNs created_;
    TimeNs began_, ended_ = 0;
    bool opened_ = false, stopping_ = false, over_ = false;
    int restarts_ = 0;
    Status refusal_;
    std::string ending_;  // why sampling ended by itself
    std::string broken_;  // what explain() found, on the thread of the watch alone
    std::thread thread_;
};

}  // namespace gpuprof
