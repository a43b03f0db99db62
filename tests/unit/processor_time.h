// CPU time of this thread, for tests of how work grows.
#pragma once

#include <time.h>

namespace gpuprof {

inline double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace gpuprof
