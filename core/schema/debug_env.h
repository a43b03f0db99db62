// What `record --debug-env` leaves in a capture: facts in `meta`, and the log lines of libraries as rows of `range`
// with duration 0.
#pragma once

#include <string_view>

namespace gpuprof::inline schema::debug_env {

// The groups whose variables were set for the command, separated by commas.
inline constexpr const char* kGroups = "debug_env";
// "1" if the command was started with CUDA_LAUNCH_BLOCKING: every launch waits for its kernel.
inline constexpr const char* kLaunchBlocking = "cuda_launch_blocking";

// range.name of a log line is "nccl: text" or "nccl warning: text", which traces of other formats keep as well.
// range.domain of a log line is this prefix and the library: log:nccl. range.category is error, warning or info.
inline constexpr std::string_view kLogDomain = "log:";
inline constexpr std::string_view kLibraries[] = {"cudnn", "cublas", "nccl", "torch"};
inline constexpr std::string_view kError = "error", kWarning = "warning", kInfo = "info";

// Whether libraries were told to write logs.
inline bool wants_logs(std::string_view groups) { return !groups.empty() && groups != "sync"; }

// The start of the name of a log line, "nccl warning: "; empty for other names.
inline std::string_view head_of_log_line(std::string_view name) {
    std::size_t colon = name.find(": ");
    if (colon == std::string_view::npos) return {};
    std::string_view who = name.substr(0, colon);
    for (std::string_view library : kLibraries) {
        if (!who.starts_with(library)) continue;
        std::string_view level = who.substr(library.size());
        if (level.empty() || level == " warning" || level == " error") return name.substr(0, colon + 2);
    }
    return {};
}

}  // namespace gpuprof::schema::debug_env
