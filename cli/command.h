// A command of the program: its name, its line in the help, and its arguments. commands() is the list; a new command is
// one file and one line in command.cc. A command never exits, and prints only through cli/output.h.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/command_options.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

struct Command {
    std::string_view name;
    std::string_view group;     // heading of the command in the help
    std::string_view synopsis;  // its arguments, as the help shows them
    std::string_view doc;
    // Declares the arguments on `line`; returns the function to run after parsing.
    std::function<Result<ExitCode>()> (*declare)(CommandLine& line);
    // The positional that takes the words after `--` unchanged, and an option that takes all words up to the next
    // option unchanged (CLI11 would split [1, 2]); "" for none.
    const char* words_after_dashes = "";
    const char* words_after_option = "";
};

// Every command, in the order of the help.
std::span<const Command* const> commands();

}  // namespace gpuprof::cli
