// The help texts: of the program, from the list of commands, and of a command, from the arguments it declared.
#pragma once

#include <string>

#include "cli/command.h"

namespace gpuprof::inline cli {

std::string program_help();
// Makes `app` print its help as this program does; to be called before the command declares its arguments.
void prepare_help(CLI::App& app, const Command& command);

}  // namespace gpuprof::cli
