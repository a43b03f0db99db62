#include "cli/record/debug_environment.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/output.h"
#include "cli/record/recording_parts.h"
#include "collect/logs/log_folder.h"
#include "core/base/clock.h"

namespace gpuprof::inline cli {
namespace {

constexpr std::string_view kGroups[] = {"sync", "torch", "cudnn", "cublas", "nccl"};
constexpr const char* kPart = "logs";

// `value` with {} for the folder of the logs. %i, %h and %p are the libraries' own: process, host, process.
struct Variable {
    std::string_view group;
    const char *name, *value;
};
constexpr Variable kVariables[] = {
    {"sync", "CUDA_LAUNCH_BLOCKING", "1"},
    {"torch", "TORCH_LOGS", "graph_breaks,recompiles"},
    {"torch", "TORCH_LOGS_OUT", "{}/torch-log.txt"},
    {"torch", "TORCH_SHOW_CPP_STACKTRACES", "1"},
    {"cudnn", "CUDNN_LOGLEVEL_DBG", "3"},  // cuDNN 9; the next three are for cuDNN 8
    {"cudnn", "CUDNN_LOGINFO_DBG", "1"},
    {"cudnn", "CUDNN_LOGWARN_DBG", "1"},
    {"cudnn", "CUDNN_LOGERR_DBG", "1"},
    {"cudnn", "CUDNN_LOGDEST_DBG", "{}/cudnn-%i.txt"},
    {"cublas", "CUBLAS_LOGINFO_DBG", "1"},
    {"cublas", "CUBLAS_LOGDEST_DBG", "{}/cublas-%i.txt"},
    {"cublas", "CUBLASLT_LOG_LEVEL", "4"},  // errors, launches, hints and heuristics
    {"cublas", "CUBLASLT_LOG_FILE", "{}/cublaslt-%i.txt"},
    {"nccl", "NCCL_DEBUG", "INFO"},
    {"nccl", "NCCL_DEBUG_SUBSYS", "INIT,ENV,GRAPH,NET,TUNING"},
    {"nccl", "NCCL_DEBUG_FILE", "{}/nccl-%h-%p.txt"},
    {"nccl", "NCCL_DEBUG_TIMESTAMP_FORMAT", "[%s.%6f] "},  // NCCL 2.26
    {"nccl", "NCCL_DEBUG_TIMESTAMP_LEVELS", "ALL"},
};

std::string logs_folder(const std::string& folder) { return folder + "/" + kPart; }

class LibraryLogs final : public Companion {
public:
    explicit LibraryLogs(const std::string& folder) : logs_(logs_folder(folder)), watch_(logs_) {}
    const char* name() const override { return kPart; }
    Status prepare(const std::string& part) override {
        part_ = part;
        if (mkdir(logs_.c_str(), 0700) == 0) return {};
        return Error{ExitCode::internal, fmt::format("cannot create folder {} for the logs of libraries", logs_)};
    }
    void started(pid_t) override {
        from_ = realtime_ns();
        watch_.start();
    }
    Status stop() override {
        watch_.stop();
        if (from_ == 0) return {};  // the command did not start
        Result<std::size_t> written = logs::write_logs(logs_, part_, {from_, realtime_ns()}, watch_.growth());
        if (!written.ok()) return written.error();
        entries_ = *written;
        return {};
    }
    std::vector<std::string> remarks() const override {
        if (entries_ > 0) return {};
        return {"no library wrote a log (--debug-env)"};
    }

private:
    std::string logs_, part_;
    logs::LogWatch watch_;
    TimeNs from_ = 0;
    std::size_t entries_ = 0;
};

}  // namespace

void declare_debug_env(CommandLine& line, DebugEnvArguments& arguments) {
    line.text_option(
            "--debug-env", [&arguments](const std::string& groups) { arguments.groups = groups; },
            "Set variables for debugging in CMD's environment, and record the logs that libraries write then, "
            "by group, separated by commas: sync (CUDA_LAUNCH_BLOCKING), torch, cudnn, cublas, nccl, or all (default: "
            "all).")
        .optional_value()
        .suggest(kGroups)
        .value("GROUPS");
}

Result<std::vector<std::string>> debug_groups(const DebugEnvArguments& arguments) {
    std::vector<std::string> groups;
    if (!arguments.groups) return groups;
    if (arguments.groups->empty() || *arguments.groups == "all")
        return std::vector<std::string>(std::begin(kGroups), std::end(kGroups));
    for (std::string_view rest = *arguments.groups; !rest.empty();) {
        std::string_view word = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        if (std::find(std::begin(kGroups), std::end(kGroups), word) == std::end(kGroups))
            return Error{ExitCode::usage, fmt::format("unknown group '{}' of --debug-env; expected one or more of: {}",
                                                      word, fmt::join(kGroups, ", "))};
        if (std::find(groups.begin(), groups.end(), word) == groups.end()) groups.emplace_back(word);
    }
    return groups;
}

std::vector<std::string> set_debug_env(ProgramEnvironment& environment, const std::vector<std::string>& groups,
                                       const std::string& folder) {
    std::vector<std::string> kept;
    for (const Variable& variable : kVariables) {
        if (std::find(groups.begin(), groups.end(), variable.group) == groups.end()) continue;
        std::string value = variable.value;
        if (value.starts_with("{}")) value = logs_folder(folder) + value.substr(2);
        if (environment.get(variable.name).value_or(value) != value) kept.emplace_back(variable.name);
        environment.set_if_absent(variable.name, value);
    }
    if (kept.empty()) return {};
    return {fmt::format("--debug-env keeps what was set already: {}; logs that these send elsewhere are not recorded",
                        fmt::join(kept, ", "))};
}

bool launches_block(const ProgramEnvironment& environment) {
    std::string value = environment.get("CUDA_LAUNCH_BLOCKING").value_or("");
    return !value.empty() && value != "0";
}

std::unique_ptr<Companion> record_logs(const std::string& folder) { return std::make_unique<LibraryLogs>(folder); }

void recover_logs(const std::string& folder) {
    std::string part = companion_part(folder, kPart);
    if (access(logs_folder(folder).c_str(), R_OK) != 0 || access(part.c_str(), F_OK) == 0) return;
    Result<std::size_t> written = logs::write_logs(logs_folder(folder), part, {0, realtime_ns()}, {});
    if (!written.ok()) note(written.error().message);
}

}  // namespace gpuprof::cli
