// Times by the host's clock (CLOCK_MONOTONIC), for functions of the processor and for machines without a GPU. Always labelled
// `host`: for work on a GPU it would time the enqueueing (docs/benchmarking-method.md).
#pragma once

#include <memory>

#include "measure/timer.h"

namespace gpuprof::measure {

std::unique_ptr<Timer> make_host_timer(const HostClock& clock = real_clock());

}  // namespace gpuprof::measure
