// CUPTI's result codes as sentences for people: their meaning here, and what to do.
#pragma once

#include <string>

#include "core/base/result.h"

namespace gpuprof::pm {

// The error for `code` from `function`, such as "cuptiPmSamplingEnable: no permission ...; let ...".
Error explain(const char* function, int code);
// The same for results of the CUDA driver's functions.
Error explain_cuda(const char* function, int code);

}  // namespace gpuprof::pm
