// `record --debug-env`: environment variables of the recorded command that make it wait for every kernel, or make
// libraries write logs, and the companion that reads these logs after the run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_options.h"
#include "collect/launch/companion.h"
#include "core/base/program_environment.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct DebugEnvArguments {
    std::optional<std::string> groups;  // as the user wrote it; "": all; absent: the option was not given
};
void declare_debug_env(CommandLine& line, DebugEnvArguments& arguments);

// The names of the groups, each once; an error lists the choices. Empty if the option was not given.
Result<std::vector<std::string>> debug_groups(const DebugEnvArguments& arguments);

// Sets the variables of these groups in the environment of the command; log files are in `folder`/logs. A variable that is
// set already is kept, and a remark says so.
std::vector<std::string> set_debug_env(ProgramEnvironment& environment, const std::vector<std::string>& groups,
                                       const std::string& folder);
// Whether the command will run with CUDA_LAUNCH_BLOCKING, set by this program or by the user.
bool launches_block(const ProgramEnvironment& environment);

// Reads the logs in `folder`/logs when the command has ended.
std::unique_ptr<Companion> record_logs(const std::string& folder);
// The same for a recording that was interrupted before that. Does nothing without logs.
void recover_logs(const std::string& folder);

}  // namespace gpuprof::cli
