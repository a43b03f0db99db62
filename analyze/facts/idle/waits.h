// Calls that wait for the device: duration, calls per step, and call site. Such a call costs more than the time inside
// it: while the host waits, the queue runs empty, and the device then waits for the host to submit again
// (DeviceIdle::drained).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

// All waits from one call site: the same call inside the same operator or range.
struct WaitSite {
    StringId call = kNoString;    // cudaStreamSynchronize, a blocking copy, ...
    StringId inside = kNoString;  // the outermost enclosing operator, or the innermost range or Python frame
    StringId line =
        kNoString;  // the program's innermost Python frame, as `file(line): function`, if frames are recorded
    std::uint64_t count = 0;
    DurNs blocked_ns = 0;  // inside the calls
};

struct Waits {
    std::map<StringId, Intervals> of_thread;  // disjoint, by start
    std::uint64_t count = 0;                  // blocking calls of submitting threads
    DurNs blocked_ns = 0;                     // time inside those calls
    double per_step = 0;                      // calls per step; 0 without steps
    DurNs pageable_ns = 0;  // part of blocked_ns in copies that block because one side is pageable memory
    // The wait of a thread that was open, or had ended last, at a time; null if none had started.
    const Interval* last_begun(StringId thread, TimeNs time) const;
    static Waits make(const Facts& facts);
};

// Apart from the waits, because it needs all spans of the threads that wait.
struct WaitSites {
    std::vector<WaitSite> sites;  // longest blocked time first
    static WaitSites make(const Facts& facts);
};

}  // namespace gpuprof::facts
