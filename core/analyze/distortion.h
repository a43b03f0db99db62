// How much of what a trace shows the recording tool made itself. A tool that writes a record per operator and call slows
// the host, and a device that waits for a slowed host shows gaps the program does not have. Two signs: overhead records of
// the tool, and the number of host records, each of which cost the host time.
#pragma once

#include <cstdint>

#include "core/analyze/study.h"

namespace gpuprof {

struct Distortion {
    DurNs overhead_ns = 0;        // union of the tool's own overhead records
    DurNs idle_in_overhead = 0;   // device idle time during them, all devices
    std::uint64_t records = 0;    // host records (operators, calls, Python frames) of threads that submit device work
    DurNs estimated_ns = 0;       // lower estimate of what making those records cost the host
    DurNs host_idle = 0;          // device idle time blamed on launching and host code, all devices
    DurNs explained_ns = 0;       // the part of host_idle that the estimate can explain
    bool distorted = false;       // explains so much that conclusions about launch and host code need care
};

Distortion assess_distortion(const Study& study);

}  // namespace gpuprof
