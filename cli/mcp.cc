// `mcp`: a server of the Model Context Protocol on standard input and output. The Python package does the work
// (python/gpu_profile/mcp_server) by running this program's other commands. This file declares the arguments and replaces
// this process with an interpreter (cli/python_package.h).
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/python_package.h"

namespace gpuprof::inline cli {
namespace {

constexpr PassedOption kPassedByMcp[] = {
    {"--root", "FOLDER", "Folder whose files tools may read; may be repeated (default: the working directory)."},
    {"--time-out", "S", "Timeout of one call, in seconds (default: 120).", PassedOption::seconds},
    {"--memory-gib", "G",
     "What the program that answers a call may allocate, in GiB (default: three quarters of the machine's memory).",
     PassedOption::number},
    {"--max-bytes", "N", "Size of an answer, in bytes; longer ones are shortened and say so (default: 32000).",
     PassedOption::whole},
    {"--workers", "N", "Calls answered at a time; others wait (default: 2).", PassedOption::whole},
};

std::function<Result<ExitCode>()> declare_mcp(CommandLine& line) {
    auto passed = std::make_shared<std::vector<std::string>>();
    declare_passed(line, kPassedByMcp, passed);
    return [passed]() -> Result<ExitCode> {
        Result<std::vector<std::string>> words = python_words("mcp", "mcp_server");
        if (!words.ok()) return words.error();
        words->insert(words->end(), passed->begin(), passed->end());
        return become_python("mcp", std::move(*words));
    };
}

}  // namespace

extern const Command kMcpCommand;
const Command kMcpCommand{"mcp", "Analyse recordings", "[--root FOLDER]",
                          "Answer questions of agents about recordings, by the Model Context Protocol.", declare_mcp};

}  // namespace gpuprof::cli
