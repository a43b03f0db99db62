// A command of the program: its name, its line in the help, and how it declares its arguments. commands() is the list;
// a new command is one file and one line of command.cc. A command never exits, and prints only through cli/output.h.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "core/base/result.h"

namespace gpuprof {

// The words an argument may be, for completion: of an option ("--format") or of a positional by its name ("ANALYSIS").
struct Choices {
    std::string_view argument;
    std::vector<std::string_view> words;
};

struct Command {
    std::string_view name;
    std::string_view group;     // heading it stands under in the help
    std::string_view synopsis;  // its arguments, as the help shows them
    std::string_view doc;
    // Declares the arguments on `line` and answers what to run once they have been parsed.
    std::function<Result<ExitCode>()> (*declare)(CommandLine& line);
    std::vector<Choices> (*choices)() = [] { return std::vector<Choices>(); };
    // The positional that takes the words after `--` as they are, and an option that so takes all words up to the next option
    // (CLI11 would take [1, 2] apart); "" for none.
    const char* words_after_dashes = "";
    const char* words_after_option = "";
};

// Every command, in the order of the help.
std::span<const Command* const> commands();

}  // namespace gpuprof
