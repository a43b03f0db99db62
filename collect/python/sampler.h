// Samples the Python stacks of a command's processes a fixed number of times a second, from a thread of the launcher, into
// a part of the recording. The processes are read, never stopped. Sampling may use a fifth of a processor: what would
// cost more is done less often, and counted as missed.
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
    std::uint64_t ticks = 0, missed = 0;  // looks at all processes
    std::uint64_t stacks = 0;             // written
    StackCounts read;
    std::size_t processes = 0;      // with a CPython that can be read
    std::size_t refused = 0;        // the system does not let us read
    std::uint32_t unsupported = 0;  // minor version of a CPython that is not known; 0 when there was none
    std::int64_t spent_ns = 0;      // of a processor
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
        std::unordered_map<std::uint64_t, pid_t> threads;  // by pthread id, where the version stores no other
        std::int64_t searched_ns = 0;                      // when it was last looked for
        int searches = 0;
        Search outcome = Search::none;
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
