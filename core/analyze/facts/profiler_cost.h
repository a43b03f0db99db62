// How much of what a trace shows the recording tool made itself. A tool that writes a record per operator and call slows
// the host, and a device that waits for a slowed host shows gaps the program does not have. Two signs: overhead records of
// the tool, and the number of host records, each of which cost the host time.
#pragma once

#include <cstdint>

#include "core/analyze/facts/facts.h"

namespace gpuprof {

struct ProfilerCost {
    DurNs overhead_ns = 0;        // union of the tool's own overhead records
    DurNs idle_in_overhead = 0;   // device idle time during them, all devices
    std::uint64_t records = 0;    // host records (operators, calls, Python frames) of threads that submit device work
    DurNs estimated_ns = 0;       // lower estimate of what making those records cost the host
    DurNs host_idle = 0;          // device idle time blamed on launching and host code, all devices
    DurNs explained_ns = 0;       // the part of host_idle that the estimate can explain
    bool host_doubtful = false;   // explains so much that conclusions about launch and host code need care
    bool overhead_large = false;  // the overhead records alone are a noticeable part of the window
    // The part of `idle`, launching or host code, that the recorder cannot have made.
    DurNs undoubted(DurNs idle) const {
        if (host_idle == 0) return idle;
        return static_cast<DurNs>(static_cast<double>(idle) *
                                  (1.0 - static_cast<double>(explained_ns) / static_cast<double>(host_idle)));
    }
    bool distorted() const { return host_doubtful || overhead_large; }
    static ProfilerCost make(const Facts& facts);
};

}  // namespace gpuprof
