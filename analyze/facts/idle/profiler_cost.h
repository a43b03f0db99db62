// How much of a trace's idle time the recording tool itself caused. A tool that writes a record per operator and call
// slows the host, and a device that waits for a slowed host shows gaps that the program does not have. There are two
// signs: the tool's overhead records, and the number of host records, each of which costs host time.
#pragma once

#include <cstdint>

#include "analyze/facts/facts.h"
#include "analyze/knowledge/known_record_cost.h"

namespace gpuprof::inline facts {

struct ProfilerCost {
    DurNs overhead_ns = 0;        // union of the tool's own overhead records
    DurNs idle_in_overhead = 0;   // device idle time during them, over all devices
    std::uint64_t records = 0;    // host records (operators, calls, Python frames) of threads that submit device work
    DurNs estimated_ns = 0;       // lower bound of the host time spent making those records
    DurNs host_idle = 0;          // device idle time attributed to launching and host code, over all devices
    DurNs explained_ns = 0;       // part of host_idle that estimated_ns can explain
    bool host_doubtful = false;   // explained_ns is so large that conclusions about launch and host code are unreliable
    bool overhead_large = false;  // the overhead records alone are a significant part of the window
    // The part of `idle` (launching or host code) that the recorder cannot have caused.
    DurNs undoubted(DurNs idle) const {
        if (host_idle == 0) return idle;
        return static_cast<DurNs>(static_cast<double>(idle) *
                                  (1.0 - static_cast<double>(explained_ns) / static_cast<double>(host_idle)));
    }
    bool distorted() const { return host_doubtful || overhead_large; }
    static ProfilerCost make(const Facts& facts);
};

// What the records of this recording cost the program: constants of the tool, and instead of them what the recorder measured.
struct RecorderPrice {
    RecordPrice price;
    bool measured = false;  // price.call is of this recording

    static RecorderPrice make(const Facts& facts);
};

}  // namespace gpuprof::facts
