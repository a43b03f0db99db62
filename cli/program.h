// The program behind main(): parses the command line, runs the command, and prints an error as one line.
#pragma once

#include <string_view>

namespace gpuprof::inline cli {

// Runs the command named by the arguments and returns the exit status.
int run_program(int argc, char** argv);

// Version of this build, such as "0.1.0".
std::string_view program_version();

}  // namespace gpuprof::cli
