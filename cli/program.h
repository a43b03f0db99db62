// The program behind main(): the command line, the choice of the command, and the one line an error becomes.
#pragma once

#include <string_view>

namespace gpuprof {

// Runs the command named by the arguments and answers the exit status.
int run_program(int argc, char** argv);

// The version of this build, e.g. "0.1.0".
std::string_view program_version();

}  // namespace gpuprof
