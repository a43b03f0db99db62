// Commands whose work is done by the Python package: the words that start an interpreter on one of its modules, and options
// that are declared here, for help and completion, and passed on as they are.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "core/base/result.h"
#include "core/schema/option_kind.h"

namespace gpuprof {

// The interpreter (GPUPROF_PYTHON, else python3) and what makes it run main() of gpu_profile.MODULE.__main__ with the arguments
// that are appended; `command` is the name of ours, for the message when the package is not there (exit 6).
Result<std::vector<std::string>> python_words(const std::string& command, const std::string& module);

// What to say when `python` cannot be started.
Error no_python(const std::string& command, const std::string& python, const std::string& reason);

// Becomes the interpreter: streams, signals and exit status are its own. Returns only when that fails.
Error become_python(const std::string& command, std::vector<std::string> words);

struct PassedOption {
    std::string_view flag, value, doc;  // no value: a flag
    enum Kind { text, number, whole, share, seconds } kind = text;

    // One that is declared for several languages.
    static PassedOption of(const OptionSpec& spec);
};

// Each option is appended to `passed` as --flag or --flag=VALUE, as often as it is given.
void declare_passed(CommandLine& line, std::span<const PassedOption> options,
                    const std::shared_ptr<std::vector<std::string>>& passed);

}  // namespace gpuprof
