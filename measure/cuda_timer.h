// Times work with CUDA events on a given stream, through the driver alone. One sample, in stream order:
//
//   [work of work.prepare] [block] [write a buffer of the size of L2] [event] [batch x work] [event]
//                           |_ the host releases it when all of this is enqueued (cuda_block.h)
//
// The write exists only for cold timings; the block unless it was disabled or timed out. As a graph, the batch is one
// launch of a graph that was captured once. The context is the current one, or the primary context of a device. With a
// warm cache a batch makes a sample of at least 100 us, because events have a resolution of 0.5 us.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/timer.h"

namespace gpuprof::measure {

struct CudaOptions {
    std::int32_t device = 0;   // if no context is current
    std::uint64_t stream = 0;  // a CUstream; 0 default, 1 legacy default, 2 per-thread default
    bool cold = true;
    bool graph = false;
    bool blocking = true;
};

// The error says in one sentence why no timer is available.
Result<std::unique_ptr<Timer>> make_cuda_timer(const CudaOptions& options, const HostClock& clock = real_clock());

}  // namespace gpuprof::measure
