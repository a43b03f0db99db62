// The launcher's side of host_process.h.
#pragma once

#include <string>
#include <vector>

#include "collect/counters/counter_wire.h"
#include "core/base/result.h"

namespace gpuprof::counters {

// A crash or hang of CUPTI is an error that names the call.
Result<PlanReply> request_plan(const PlanRequest& request);

struct Evaluation {
    std::uint64_t launches = 0, values = 0, lost = 0;
    std::vector<std::string> parts;    // captures that were written
    std::vector<std::string> remarks;  // what the user should know
};
// Evaluates all images of request.spools. A process that crashes is replaced by another, which writes the part with a
// number before its suffix and continues behind the image that crashed it.
Evaluation evaluate_images(EvaluateRequest request);

}  // namespace gpuprof::counters
