// CUPTI's result codes as sentences for people: what it means here and what to do.
#pragma once

#include <string>

#include "core/base/result.h"

namespace gpuprof::pm {

// What `function` answered `code` for, e.g. "cuptiPmSamplingEnable: no permission ...; let ...".
Error explain(const char* function, int code);
// The same for results of the CUDA driver's functions.
Error explain_cuda(const char* function, int code);

}  // namespace gpuprof::pm
