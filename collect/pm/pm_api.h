// libcupti and libcuda, found at run time: the library named by GPUPROF_CUPTI, then those of the system, the toolkit
// and Python environments. Libraries without PM sampling (before CUPTI 12.6) are skipped. Only for the process of the
// counter sampler, where nothing else may have loaded CUPTI.
#pragma once

#include <string>

#include "collect/device/running_call.h"
#include "collect/pm/pm_abi.h"
#include "collect/pm/pm_errors.h"
#include "collect/pm/pm_symbols.def"

namespace gpuprof::pm {

// One function of CUPTI; calls are marked (collect/device/running_call.h).
template <class Parameters>
struct Function {
    int (*pointer)(Parameters*) = nullptr;
    const char* name = "";

    int code(Parameters& parameters) const {
        RunningCallScope mark(name);
        return pointer(&parameters);
    }
    Status operator()(Parameters& parameters) const {
        if (int failed = code(parameters); failed != kSuccess) return explain(name, failed);
        return {};
    }
};

struct Api {
    std::string path;  // of libcupti
#define GPUPROF_PM_MEMBER(member, name, Parameters) Function<Parameters> member;
    GPUPROF_PM_REQUIRED(GPUPROF_PM_MEMBER)
    GPUPROF_PM_OPTIONAL(GPUPROF_PM_MEMBER)
#undef GPUPROF_PM_MEMBER
    int (*timestamp)(std::uint64_t* ns) = nullptr;  // cuptiGetTimestamp; null if missing
};

// Starts the driver and CUPTI's profiling interface in the required order: cuptiProfilerInitialize returns 999 before
// cuInit (measured with CUPTI 13.0).
// `program` is the recorded command: if it is a Python, its environment is searched too.
Result<Api> load_api(const std::string& program);
// GPUs that the driver shows to this process.
Result<int> count_devices();

}  // namespace gpuprof::pm
