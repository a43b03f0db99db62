#include "core/model/build/submission.h"

namespace gpuprof::inline model {

std::string_view bare_call_name(std::string_view call) {
    for (std::string_view prefix : {"cuda", "hip", "cu"})
        if (call.starts_with(prefix)) return call.substr(prefix.size());
    return call;
}

Submission submission_of(std::string_view call) {
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
