// The work of each stream: the union of its ops. A stream is a device, a context and a stream id; streams of different
// contexts are different streams even when they share an id.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/interval.h"

namespace gpuprof::inline model {
class Trace;
}

namespace gpuprof::inline facts {

struct StreamWork {
    std::int32_t device = -1;  // -1: not recorded, here and below
    std::int32_t context = -1;
    std::int64_t stream = -1;
    std::uint64_t ops = 0;
    IntervalSet busy;
    TimeNs first = 0, last = 0;  // start of the first op, end of the last, including empty ops
};

// Streams with ops, by device, context and id. `only_device` < 0 selects all devices.
std::vector<StreamWork> stream_work(const Trace& trace, std::int64_t only_device);

}  // namespace gpuprof::facts
