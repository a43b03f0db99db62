// The codes, one row each. Source: cupti_result.h of CUPTI 13.0; the remedies of 26 and 35 are NVIDIA's own
// (https://developer.nvidia.com/ERR_NVGPUCTRPERM; DCGM issues 56 and 62), CAP_PERFMON is enough from driver R565 on.
#include "collect/pm/errors.h"

#include <fmt/format.h>

#include <string_view>

#include "collect/pm/abi.h"

namespace gpuprof::pm {
namespace {

struct Meaning {
    int code;
    std::string_view text;
};

constexpr Meaning kMeanings[] = {
    {kInvalidParameter,
     "CUPTI refuses the request (invalid parameter); use the CUPTI that belongs to the driver, named with "
     "GPUPROF_CUPTI"},
    {2, "there is no such device for CUPTI"},
    {7,
     "CUPTI says that this is not the time for it (invalid operation): something samples this GPU already; end the "
     "other "
     "profiler"},
    {kOutOfMemory, "CUPTI is out of memory, or its buffer ran over; sample less often"},
    {9, "the counters of the GPU do not work (hardware error); see the kernel log (dmesg)"},
    {10, "CUPTI wants a larger buffer; use the CUPTI that belongs to the driver, named with GPUPROF_CUPTI"},
    {11, "this CUPTI does not have it; use CUPTI 12.6 or newer"},
    {14, "CUPTI says that this does not go together with what runs on the GPU (not compatible); end other profilers"},
    {15, "CUPTI cannot reach the driver (not initialised); is the driver as new as CUPTI?"},
    {17, "CUPTI does not know one of the counters"},
    {23, "CUPTI is switched off because another profiler is at work; end it"},
    {kHardwareBusy,
     "the counters of this GPU are in use by another profiler; end it, or for DCGM run dcgmi profile --pause"},
    {kNotSupported, "this GPU or its driver does not support it"},
    {33, "a virtual GPU (vGPU) gives no counters; let the host allow profiling for it"},
    {kInsufficientPrivileges,
     "hardware counters are for administrators here; load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0 "
     "on "
     "the host, or run with CAP_SYS_ADMIN (CAP_PERFMON from driver R565 on)"},
    {36, "the old profiling interface of CUPTI is in use in this process"},
    {38, "this GPU is too old or too new for this CUPTI's profiling interface"},
    {39, "another profiler holds CUPTI; end it"},
    {40, "the hypervisor does not let this virtual GPU be profiled; let the host allow it"},
    {41, "the GPU is in confidential computing mode, which gives no counters; nothing helps while it is"},
    {42, "mining processors (CMP) give no counters"},
    {43, "a MIG instance gives no counters this way; use the whole GPU"},
    {44, "GPUs coupled by SLI give no counters; switch SLI off"},
    {45, "WSL gives no counters; use Linux itself"},
    {46, "this CUPTI does not know this GPU; use a newer CUPTI, named with GPUPROF_CUPTI"},
    {999,
     "CUPTI says \"unknown error\"; is libnvperf_host.so beside libcupti, and the driver as new as CUPTI? name another "
     "CUPTI "
     "with GPUPROF_CUPTI"},
};

std::string_view meaning_of(int code) {
    for (const Meaning& meaning : kMeanings)
        if (meaning.code == code) return meaning.text;
    return "CUPTI refuses it";
}

}  // namespace

Error explain(const char* function, int code) {
    bool permission = code == kInsufficientPrivileges || code == 40;
    return {permission ? ExitCode::not_permitted : ExitCode::empty,
            fmt::format("{} ({} answered {})", meaning_of(code), function, code)};
}

// Source: cuda.h, CUresult.
Error explain_cuda(const char* function, int code) {
    const char* text = code == 100   ? "the driver finds no GPU that it may use"
                       : code == 803 ? "the driver's library and kernel module differ; reboot, or reload the module"
                       : code == 999 ? "the driver does not start; in a container restart it"
                                     : "the driver refuses it";
    return {ExitCode::empty, fmt::format("{} ({} answered {})", text, function, code)};
}

}  // namespace gpuprof::pm
