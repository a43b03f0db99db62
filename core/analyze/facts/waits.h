// Calls that wait for the device: how long, how often in a step, and who called. Such a call costs more than the time inside it:
// while the host waits, the queue runs empty, and the device then waits for the host to submit again (DeviceIdle::drained).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof {

class Facts;

// All waits that were called for in the same place: the same call inside the same operator or range.
struct WaitSite {
    StringId call = kNoString;    // cudaStreamSynchronize, a blocking copy, ...
    StringId inside = kNoString;  // the outermost operator open around it, or the innermost range or Python frame
    StringId line =
        kNoString;  // the innermost Python frame of the program, as `file(line): function`, where frames are recorded
    std::uint64_t count = 0;
    DurNs blocked_ns = 0;  // inside the calls
};

struct Waits {
    std::vector<WaitSite> sites;              // the longest blocked first
    std::map<StringId, Intervals> of_thread;  // disjoint, by start
    std::uint64_t count = 0;                  // blocking calls of threads that submit work
    DurNs blocked_ns = 0;                     // the threads' time inside them
    double per_step = 0;                      // calls of a step, when there are steps; else 0
    DurNs pageable_ns = 0;  // part of blocked_ns in copies that wait because a side is pageable memory
    // The wait of a thread that was open, or had ended last, at a time; null when none had begun.
    const Interval* last_begun(StringId thread, TimeNs time) const;
    static Waits make(const Facts& facts);
};

}  // namespace gpuprof
