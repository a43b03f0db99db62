// Turns the context switches of one CPU, in order, into stretches of time that threads ran on it. A stretch begins and ends on
// the same CPU, so each CPU is on its own, and the times of several need not be sorted.
// A stretch of which one end is missing is dropped. After lost records the CPU is unknown until the next switch; that time
// becomes a stretch of its own, without a thread, so that nobody takes it for waiting.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/cpu/perf_ring.h"

namespace gpuprof::inline cpu {

struct CpuStretch {
    // ended: the thread does not exist any more, or executed another program under another id.
    enum class End { preempted, blocked, ended, lost };
    TimeNs start = 0;
    DurNs dur = 0;
    pid_t process = 0, thread = 0;  // 0 if lost
    End end = End::ended;
};

class SwitchSlices {
public:
    void take(const SwitchRecord& record, std::vector<CpuStretch>& into);
    // Records that the ring discarded; their number is unknown and counts as 1.
    void damaged();

    std::uint64_t lost() const { return lost_; }        // records
    std::uint64_t dropped() const { return dropped_; }  // stretches with one end, or whose end is before their start

private:
    struct Running {
        pid_t process = 0, thread = 0;  // 0: none
        TimeNs since = 0;
    };
    void close(TimeNs time, CpuStretch::End end, std::vector<CpuStretch>& into);

    Running running_;
    bool any_ = false, blind_ = false;  // blind: records are missing here
    TimeNs last_ = 0;                   // time of the last record
    std::uint64_t lost_ = 0, dropped_ = 0;
};

}  // namespace gpuprof::cpu
