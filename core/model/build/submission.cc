#include "core/model/build/submission.h"

#include <string>
#include <utility>

namespace gpuprof::inline model {
namespace {

// Commands of queues and command lists, without the prefix of their API. The first that the rest begins with counts.
constexpr std::pair<std::string_view, Submission> kSyclCommands[] = {
    {"KernelLaunch", Submission::kernel},
    {"CooperativeKernelLaunch", Submission::kernel},
    {"NativeKernel", Submission::kernel},
    {"LaunchKernel", Submission::kernel},
    {"LaunchCooperativeKernel", Submission::kernel},
    {"LaunchMultipleKernels", Submission::kernel},
    {"CommandBuffer", Submission::graph},
    {"USMMemcpy", Submission::copy},
    {"MemBufferCopy", Submission::copy},
    {"MemBufferRead", Submission::copy},
    {"MemBufferWrite", Submission::copy},
    {"MemImage", Submission::copy},
    {"MemoryCopy", Submission::copy},
    {"ImageCopy", Submission::copy},
    {"USMFill", Submission::fill},
    {"USMMemset", Submission::fill},
    {"MemBufferFill", Submission::fill},
    {"MemoryFill", Submission::fill},
};

Submission sycl_submission_of(std::string_view call) {
    for (std::string_view begin : {"urEnqueue", "piEnqueue", "piextEnqueue", "piextUSMEnqueue", "zeCommandListAppend",
                                   "zeCommandListImmediateAppend"}) {
        if (!call.starts_with(begin)) continue;
        std::string_view what = call.substr(begin.size());
        std::string usm = begin == "piextUSMEnqueue" ? "USM" + std::string(what) : std::string();
        if (!usm.empty()) what = usm;
        for (const auto& [command, submits] : kSyclCommands)
            if (what.starts_with(command)) return submits;
    }
    return Submission::none;
}

}  // namespace

bool is_sycl_call(std::string_view call) {
    if (call.size() < 3 || call[2] < 'A' || call[2] > 'Z') return call.starts_with("piext");
    return call.starts_with("ur") || call.starts_with("pi") || call.starts_with("ze");
}

std::string_view bare_call_name(std::string_view call) {
    for (std::string_view prefix : {"cuda", "hip", "cu"})
        if (call.starts_with(prefix)) return call.substr(prefix.size());
    return call;
}

Submission submission_of(std::string_view call) {
    if (is_sycl_call(call)) return sycl_submission_of(call);
    std::string_view what = bare_call_name(call);
    if (what.starts_with("GraphLaunch")) return Submission::graph;
    if (what.starts_with("Memcpy")) return Submission::copy;
    if (what.starts_with("Memset")) return Submission::fill;
    // LaunchKernel, LaunchCooperativeKernel, LaunchGrid, ModuleLaunchKernel, ExtModuleLaunchKernel; not LaunchHostFunc.
    for (std::string_view prefix : {"Launch", "ModuleLaunch", "ExtLaunch", "ExtModuleLaunch"})
        if (what.starts_with(prefix) && !what.starts_with("LaunchHostFunc") && !what.starts_with("LaunchAttribute"))
            return Submission::kernel;
    return Submission::none;
}

}  // namespace gpuprof::model
