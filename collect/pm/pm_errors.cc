// The codes, one row each. Source: cupti_result.h of CUPTI 13.0; the remedies of 26 and 35 are NVIDIA's own
// (https://developer.nvidia.com/ERR_NVGPUCTRPERM; DCGM issues 56 and 62). CAP_PERFMON is enough from driver R565.
#include "collect/pm/pm_errors.h"

#include <fmt/format.h>

#include <string_view>

#include "collect/pm/pm_abi.h"

namespace gpuprof::pm {
namespace {

struct Meaning {
    int code;
    std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {kInvalidParameter,
     "CUPTI rejects the request (invalid parameter); use the CUPTI version of the driver, set with "
     "GPUPROF_CUPTI"},
    {2, "CUPTI does not know this device"},
    {7,
     "CUPTI rejects the request in its current state (invalid operation): something already samples this GPU; end the "
     "other "
     "profiler"},
    {kOutOfMemory, "CUPTI is out of memory, or its buffer overflowed; lower the sampling rate"},
    {9, "the GPU's counters failed (hardware error); see the kernel log (dmesg)"},
    {10, "CUPTI needs a larger buffer; use the CUPTI version of the driver, set with GPUPROF_CUPTI"},
    {11, "this CUPTI does not support it; use CUPTI 12.6 or later"},
    {14, "CUPTI reports a conflict with other work on the GPU (not compatible); end other profilers"},
    {15, "CUPTI cannot reach the driver (not initialised); check that the driver is as new as CUPTI"},
    {17, "CUPTI does not know one of the counters"},
    {23, "another profiler has disabled CUPTI; end it"},
    {kHardwareBusy, "another profiler uses the counters of this GPU; end it, or for DCGM run dcgmi profile --pause"},
    {kNotSupported, "this GPU or its driver does not support it"},
    {33, "this virtual GPU (vGPU) provides no counters; enable profiling for it on the host"},
    {kInsufficientPrivileges,
     "hardware counters are restricted to administrators; load the nvidia module with "
     "NVreg_RestrictProfilingToAdminUsers=0 on the host, or run with CAP_SYS_ADMIN (CAP_PERFMON from driver R565)"},
    {36, "CUPTI's old profiling interface is in use in this process"},
    {38, "this CUPTI's profiling interface does not support this GPU, which is too old or too new"},
    {39, "another profiler uses CUPTI; end it"},
    {40, "the hypervisor does not allow profiling of this virtual GPU; enable it on the host"},
    {41, "the GPU is in confidential computing mode, which provides no counters"},
    {42, "mining GPUs (CMP) provide no counters"},
    {43, "MIG instances provide no counters; use the whole GPU"},
    {44, "GPUs in SLI mode provide no counters; disable SLI"},
    {45, "WSL provides no counters; use native Linux"},
    {46, "this CUPTI does not support this GPU; use a newer CUPTI, set with GPUPROF_CUPTI"},
    {999,
     "CUPTI reports \"unknown error\"; check that libnvperf_host.so is next to libcupti and that the driver is as new "
     "as "
     "CUPTI, or set another CUPTI with GPUPROF_CUPTI"},
};

std::string_view meaning_of(int code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code) return meaning.text;
    return "CUPTI rejects the request";
}

}  // namespace

Error explain(const char* function, int code) {
    bool permission = code == kInsufficientPrivileges || code == 40;
    return {permission ? ExitCode::not_permitted : ExitCode::empty,
            fmt::format("{} ({} answered {})", meaning_of(code), function, code)};
}

// Source: cuda.h, CUresult.
Error explain_cuda(const char* function, int code) {
    const char* text = "the driver rejects the request";
    if (code == 100) text = "the driver finds no usable GPU";
    if (code == 803)
        text = "the versions of the driver's library and kernel module differ; reboot, or reload the module";
    if (code == 999) text = "the driver fails to start; in a container, restart the container";
    return {ExitCode::empty, fmt::format("{} ({} answered {})", text, function, code)};
}

}  // namespace gpuprof::pm
