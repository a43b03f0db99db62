// How long contexts of other programs had a GPU, from its context switches. The program's work stands still in these turns, but its
// kernels' times go on.
#pragma once

#include <cstdint>
#include <map>

#include "core/model/interval.h"

namespace gpuprof::inline facts {

class Facts;

struct GpuTurns {
    DurNs recorded = 0;                          // in which switches were recorded, of devices with work
    DurNs of_others = 0;                         // of that, time of contexts that are not the program's
    DurNs in_kernels = 0;                        // of that, time in which a kernel of the program counts as running
    std::map<std::int32_t, IntervalSet> others;  // by device

    static GpuTurns make(const Facts& facts);
};

}  // namespace gpuprof::facts
