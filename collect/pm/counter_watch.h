// The launcher's side of counter sampling: starts the counter process, listens to it on a separate thread, kills it if
// the driver hangs, restarts it if it dies, and counts the losses. Only stop() waits for the driver, for a second at
// most.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collect/device/process_link.h"
#include "collect/pm/pm_wire.h"

namespace gpuprof::pm {

struct CounterOptions {
    std::string part;             // the capture to write; restarts write PART with a number before its suffix
    std::string set = "default";  // a name of sets.def
    std::string program;          // the recorded command
    DurNs interval = 1'000'000;
    // A sentence for the user; called on another thread.
    std::function<void(const std::string&)> remark;
};

class CounterWatch {
public:
    explicit CounterWatch(CounterOptions options);
    ~CounterWatch();
    CounterWatch(const CounterWatch&) = delete;
    CounterWatch& operator=(const CounterWatch&) = delete;

    // Returns at once; stop() then waits for the rest of its second.
    void ask_to_stop();
    void stop();
    // After stop(): sampled and lost moments of all devices.
    std::uint64_t sample_times() const { return sample_times_; }
    std::uint64_t lost() const { return lost_; }

private:
    enum class Outcome { finished, refused, hung, died };
    void run() noexcept;
    void listen();
    bool open_link();
    Outcome converse();
    void take(const CounterReport& report);
    bool explain(Outcome outcome);  // whether to restart
    bool pause(DurNs length);       // false while stopping
    bool stopping();
    std::string part(int number) const;
    void write_loss();

    CounterOptions options_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<ProcessLink> link_;
    TimeNs asked_ = 0;  // monotonic; when stopping
    bool stopping_ = false, over_ = false, reported_ = false, incomplete_ = false;
    int restarts_ = 0;
    std::vector<TimeNs> written_until_;
    std::uint64_t sample_times_ = 0, lost_ = 0;                  // totals
    std::uint64_t earlier_sample_times_ = 0, earlier_lost_ = 0;  // of samplers that died
    std::thread thread_;
};

}  // namespace gpuprof::pm
