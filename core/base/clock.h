// Readings of the system clocks, in ns.
#pragma once

#include <ctime>

#include "core/base/ids.h"

namespace gpuprof::inline base {

inline TimeNs clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return TimeNs{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
// Never steps: for durations and deadlines.
inline TimeNs monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
// The clock of recordings: CUPTI's timestamps use it on Linux.
inline TimeNs realtime_ns() { return clock_ns(CLOCK_REALTIME); }

}  // namespace gpuprof::base
