// Commands that the Python package implements: the command line that starts an interpreter with one of its modules, and
// options that are declared here, for help and completion, and passed on unchanged.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_options.h"
#include "core/base/result.h"
#include "core/schema/option_kind.h"

namespace gpuprof::inline cli {

// The interpreter (GPUPROF_PYTHON, else python3) and the words that make it run main() of gpu_profile.MODULE.__main__
// with further arguments. `command` is our command, for the message if the package is missing (exit 6).
Result<std::vector<std::string>> python_words(const std::string& command, const std::string& module);

// The error if `python` cannot be started.
Error no_python(const std::string& command, const std::string& python, const std::string& reason);

// Replaces this process with the interpreter, which inherits streams and signals. Returns only on failure.
Error become_python(const std::string& command, std::vector<std::string> words);

struct PassedOption {
    std::string_view flag, value, doc;  // an empty value name: a flag
    enum Kind { text, number, whole, share, seconds } kind = text;
    std::span<const std::string_view> words = {};  // that completion offers

    // From a declaration that several languages share.
    static PassedOption of(const OptionSpec& spec);
};

// Appends each use of an option to `passed` as --flag or --flag=VALUE.
void declare_passed(CommandLine& line, std::span<const PassedOption> options,
                    const std::shared_ptr<std::vector<std::string>>& passed);

}  // namespace gpuprof::cli
