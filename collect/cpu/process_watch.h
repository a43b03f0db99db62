// A launcher thread that reads the CPU use of the recorded command's processes every 100 ms. Its cost is limited to 1 %
// of one CPU: with many threads it reads less often and notes that in the recording.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "collect/cpu/cpu_limits.h"
#include "collect/cpu/process_tree.h"
#include "collect/cpu/usage.h"
#include "core/base/result.h"
#include "core/format/capture_part.h"

namespace gpuprof::inline cpu {

// Statistics of the watch itself, for the recording and the user.
struct WatchCost {
    std::size_t processes = 0;  // total seen
    std::size_t threads = 0;    // maximum at one time
    std::uint64_t looks = 0;
    std::int64_t spent_ns = 0;     // CPU time
    std::int64_t max_wait_ns = 0;  // longest chosen interval between looks
};

class ProcessWatch {
public:
    // Writes to `file`. `mark` as for ProcessTree; `commands`: with command lines of the processes.
    static Result<std::unique_ptr<ProcessWatch>> open(const std::string& file, std::string mark, bool commands = true);
    ~ProcessWatch();

    // Looks once, then continues in a separate thread.
    void start(pid_t command);
    // Call after the command has ended, before its process is reaped: reads its final figures.
    void command_ended();
    // Ends the thread and completes the part.
    Status stop();

    WatchCost cost() const { return cost_; }
    // Seen so far; thread-safe.
    std::size_t processes() const { return processes_.load(std::memory_order_relaxed); }

    static constexpr std::int64_t kDefaultWait = 100'000'000, kMaxWait = 10'000'000'000;
    static constexpr std::int64_t kWaitPerCost = 100;  // 1 % of a CPU

private:
    ProcessWatch(std::unique_ptr<CapturePart> part, std::string mark, bool commands);
    void run();
    void look();
    void add_facts();

    std::unique_ptr<CapturePart> part_;
    std::string mark_;
    ProcFiles files_;
    UsageRecorder usage_;
    CpuLimits limits_;
    bool ended_ = false;  // limits_ were read when the command ended
    std::unique_ptr<ProcessTree> tree_;
    pid_t command_ = -1;
    std::thread thread_;
    std::mutex mutex_;  // guards everything but what start() created
    std::condition_variable wake_;
    bool stopping_ = false;
    WatchCost cost_;
    std::int64_t wait_ = kDefaultWait;
    std::atomic<std::size_t> processes_{0};
};

}  // namespace gpuprof::cpu
