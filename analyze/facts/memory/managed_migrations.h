// Kernels that wait for pages of managed memory. A page that a kernel touches and that lies elsewhere faults: the driver
// stops what touched it, moves the page, and lets it go on. No counter of a kernel shows this wait, and profilers that
// replay kernels do not have it; the timeline does, because migrations run inside the kernel that needs them.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/facts/stat.h"
#include "core/base/ids.h"

namespace gpuprof::inline facts {

class Facts;

struct ManagedMigrations {
    std::uint64_t count = 0;      // all that were recorded
    std::uint64_t evictions = 0;  // to the host, because the device had no room left
    // While kernels ran that they limit, on demand: not asked for by a call for prefetching, and no access by the host.
    std::uint64_t in_kernels = 0;
    WideSum bytes_in_kernels, faults_in_kernels;  // faults: if they were recorded
    DurNs moving = 0;                             // union of these, in the kernels that they limit
    DurNs waiting = 0;                            // the same with the handling of the faults
    DurNs limited = 0;                            // sum of the durations of those kernels
    // Migrations have no cause, but the program called for prefetching: which ones kernels waited for is unknown.
    bool cause_unknown = false;

    bool limits(Row kernel) const { return !limited_.empty() && limited_[kernel]; }
    static ManagedMigrations make(const Facts& facts);

private:
    std::vector<bool> limited_;  // by row of `kernel`; empty if there are none
};

}  // namespace gpuprof::facts
