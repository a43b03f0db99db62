// Times by CUDA events on a given stream, by the driver alone. One sample, in the order of the stream:
//
//   [what work.prepare puts there] [hold] [write a buffer of the size of L2] [event] [batch x work] [event]
//                                    |_ the host lets go when all of this is in the queue (cuda_block.h)
//
// The write is only there when cold, the hold unless it was switched off or gave up. As a graph, the batch is one launch of a
// graph that was captured once. The context is the one that is current, or the primary context of a device.
// With a hot cache a batch makes a sample of 100 us or more: events resolve 0.5 us.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/timer.h"

namespace gpuprof::measure {

struct CudaOptions {
    std::int32_t device = 0;   // when no context is current
    std::uint64_t stream = 0;  // a CUstream; 0 default, 1 legacy default, 2 default of the thread
    bool cold = true;
    bool graph = false;
    bool blocking = true;
};

// The error says in one sentence why there is none.
Result<std::unique_ptr<Timer>> make_cuda_timer(const CudaOptions& options, const HostClock& clock = real_clock());

}  // namespace gpuprof::measure
