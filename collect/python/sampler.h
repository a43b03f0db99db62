// Samples the Python stacks of a command's processes at a fixed rate, from a launcher thread, into a part of the
// recording. The processes are read, never stopped.
// Sampling is limited to a fifth of a CPU; samples beyond that are skipped and counted as missed.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "collect/cpu/process_tree.h"
#include "collect/python/interpreter.h"
#include "collect/python/stack_reader.h"
#include "core/base/result.h"
#include "core/format/capture_part.h"

namespace gpuprof::python {

struct SamplingCounts {
    std::uint64_t ticks = 0, missed = 0;  // readings of all processes
    std::uint64_t stacks = 0;             // written
    StackCounts read;
    std::size_t processes = 0;      // with a readable CPython
    std::size_t refused = 0;        // not readable with our permissions
    std::uint32_t unsupported = 0;  // minor version of an unknown CPython; 0: none
    std::int64_t spent_ns = 0;      // CPU time
};

class StackSampler {
public:
    // Writes to `file`; `mark` as for ProcessTree.
    static Result<std::unique_ptr<StackSampler>> open(const std::string& file, std::string mark, double hz);
    ~StackSampler();
    void start(pid_t command);
    Status stop();
    const SamplingCounts& counts() const { return counts_; }

private:
    struct Target {
        std::unique_ptr<ProcessMemory> memory;
        std::unique_ptr<StackReader> reader;
        std::unordered_map<std::uint64_t, pid_t> threads;  // by pthread id, for versions that store no system id
        std::int64_t searched_ns = 0;                      // time of the last search
        int searches = 0;
        SearchOutcome outcome = SearchOutcome::none;
        StackCounts counted;
    };
    StackSampler(std::unique_ptr<CapturePart> part, std::string mark, double hz);
    void run();
    void find_targets();
    void search(pid_t pid, Target& target, std::int64_t now);
    void sample();
    void give_up(Target& target);
    void write(pid_t pid, Target& target, const ThreadStack& stack);
    pid_t thread_id(pid_t pid, Target& target, const ThreadStack& stack);
    void take_counts(Target& target);

    std::unique_ptr<CapturePart> part_;
    std::string mark_, host_;
    std::int64_t period_;
    ProcFiles files_;
    std::unique_ptr<ProcessTree> tree_;
    std::map<pid_t, Target> targets_;
    SamplingCounts counts_;
    std::thread thread_;
    std::mutex mutex_;  // guards stopping_
    std::condition_variable wake_;
    bool stopping_ = false;
};

}  // namespace gpuprof::python
