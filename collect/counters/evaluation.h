// Turns images into rows: the tables profiled_kernel and kernel_counter of a capture. Runs in the process of
// host_process.h: an image that CUPTI does not survive costs its own values only. Images are opaque; one whose hash is
// wrong never reaches CUPTI. A value that is not finite is absent, and a loss.
#pragma once

#include <functional>

#include "collect/counters/counter_wire.h"
#include "core/base/result.h"

namespace gpuprof::counters {

// Writes request.part. `report` is called before each image; false ends the evaluation.
Status evaluate(const EvaluateRequest& request, EvaluateReport& totals, const std::function<bool()>& report);

}  // namespace gpuprof::counters
