// CPU use of processes and threads, as rows of a capture part. A look reads every thread's counters and writes the use
// since the last look.
// Spans without use are written once, when they end. The first row of a process begins with the process, so the rows of
// a process add up to its total use when it was last seen.
// The counters of CPU time advance in ticks (10 ms on Linux), so short intervals are coarse, but sums are not. Time in which
// a thread was ready and had no CPU is counted in ns, but each wait only when it ends: an interval's wait may be longer than
// the interval.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collect/cpu/proc_files.h"
#include "core/base/ids.h"
#include "core/format/capture_part.h"

namespace gpuprof::inline cpu {

class UsageRecorder {
public:
    // `host` as in process keys. Both references outlive this.
    UsageRecorder(ProcFiles& files, CapturePart& part, std::string host, bool commands = true);

    // Reads these processes; processes that are no longer listed have ended. `now` is on the realtime clock.
    void look(const std::vector<pid_t>& processes, TimeNs now);
    // Reads only one process, for example once more before it disappears.
    void look_at(pid_t process, TimeNs now);
    // Writes the spans without use that are still open.
    void finish();

    std::size_t processes_seen() const { return processes_seen_; }
    std::size_t max_threads() const { return max_threads_; }

private:
    // The counters of a process or thread at the last reading, and since when it has been idle.
    struct Counter {
        std::int64_t start_ticks = 0, user_ticks = 0, system_ticks = 0;
        TimeNs read_at = 0, idle_since = 0;
        std::int64_t resident_bytes = -1;  // maximum since then
        std::int64_t ready_ns = 0;         // total at the last reading
        std::int64_t idle_ready = -1;      // in the open span without use; -1: not counted
        std::string name;
        std::uint64_t look = 0;  // number of the look that last saw it
    };
    struct Process {
        Counter usage;
        std::map<pid_t, Counter> threads;
        std::string program, command;
        int looks = 0;
    };
    void look_into(pid_t pid, TimeNs now);
    bool advance(Counter& counter, const ProcStat& stat, std::optional<SchedStat> sched, TimeNs now, pid_t pid,
                 pid_t thread);
    // What was used between two readings; -1: not known.
    struct Use {
        std::int64_t user = 0, system = 0, resident = -1, ready = -1;
    };
    void add_row(TimeNs begin, TimeNs end, pid_t pid, pid_t thread, const Use& use);
    void close_idle(const Counter& counter, pid_t pid, pid_t thread);
    void close_threads(Process& process, pid_t pid, bool all);
    void describe(Process& process, pid_t pid);
    void describe_thread(pid_t pid, pid_t thread, std::string_view name);

    ProcFiles& files_;
    CapturePart& part_;
    std::string host_;
    bool commands_;
    std::int64_t tick_ = ns_per_tick(), page_bytes_;
    std::map<pid_t, Process> processes_;
    std::vector<pid_t> threads_;
    std::uint64_t look_ = 0;
    std::size_t processes_seen_ = 0, max_threads_ = 0;
};

}  // namespace gpuprof::cpu
