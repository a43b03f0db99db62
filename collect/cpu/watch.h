// A thread of the launcher that looks at the recorded command's processes every 100 ms. Looking may cost 1 % of one
// processor: where there are so many threads that it costs more, it looks less often, and says so in the recording.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "collect/cpu/process_tree.h"
#include "collect/cpu/usage.h"
#include "core/base/result.h"
#include "core/format/capture_part.h"

namespace gpuprof {

// What looking did and cost, for the recording and the user.
struct WatchCost {
    std::size_t processes = 0;  // seen in all
    std::size_t threads = 0;    // at most, at one time
    std::uint64_t looks = 0;
    std::int64_t spent_ns = 0;         // of a processor
    std::int64_t longest_wait_ns = 0;  // from one look to the next, as chosen
};

class ProcessWatch {
public:
    // Writes to `file`. `mark` as for ProcessTree; `commands`: with the command lines of the processes.
    static Result<std::unique_ptr<ProcessWatch>> open(const std::string& file, std::string mark, bool commands = true);
    ~ProcessWatch();

    // Looks once, then goes on in a thread of its own.
    void start(pid_t command);
    // Between the command's end and the moment its process is gone: takes its last figures.
    void command_ended();
    // Ends the thread and the part.
    Status stop();

    WatchCost cost() const { return cost_; }
    // Seen so far; any thread may ask.
    std::size_t processes() const { return processes_.load(std::memory_order_relaxed); }

    static constexpr std::int64_t kUsualWait = 100'000'000, kLongestWait = 10'000'000'000;
    static constexpr std::int64_t kWaitPerCost = 100;  // 1 % of a processor

private:
    ProcessWatch(std::unique_ptr<CapturePart> part, std::string mark, bool commands);
    void run();
    void look();

    std::unique_ptr<CapturePart> part_;
    std::string mark_;
    ProcFiles files_;
    UsageRecorder usage_;
    std::unique_ptr<ProcessTree> tree_;
    pid_t command_ = -1;
    std::thread thread_;
    std::mutex mutex_;  // guards everything but what start() made
    std::condition_variable wake_;
    bool stopping_ = false;
    WatchCost cost_;
    std::int64_t wait_ = kUsualWait;
    std::atomic<std::size_t> processes_{0};
};

}  // namespace gpuprof
