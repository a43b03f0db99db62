// libcupti and libcuda, found at run time: the library that GPUPROF_CUPTI names, then those of the system, the toolkit and
// Python environments. One without the functions of PM sampling (before CUPTI 12.6) is passed over.
// For the counter sampler's own process only: nothing else may have loaded CUPTI there.
#pragma once

#include <string>

#include "collect/device/call_mark.h"
#include "collect/pm/abi.h"
#include "collect/pm/errors.h"
#include "collect/pm/symbols.def"

namespace gpuprof::pm {

// One function of CUPTI; calls are marked (collect/device/call_mark.h).
template <class Parameters>
struct Function {
    int (*pointer)(Parameters*) = nullptr;
    const char* name = "";

    int code(Parameters& parameters) const {
        MarkedCall mark(name);
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
    int (*timestamp)(std::uint64_t* ns) = nullptr;  // cuptiGetTimestamp; null where missing
};

// Starts the driver and CUPTI's profiling interface, in the order they need: cuptiProfilerInitialize answers 999 before cuInit
// (measured with CUPTI 13.0). `program` is the command that is recorded: the Python it names is looked into, too.
Result<Api> load_api(const std::string& program);
// GPUs that the driver shows to this process.
Result<int> count_devices();

}  // namespace gpuprof::pm
