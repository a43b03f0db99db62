// The shell of `query`: reads statements from the terminal and answers each one, until .quit or the end of input.
#pragma once

#include "cli/query/run.h"

namespace gpuprof {

Result<ExitCode> run_shell(QueryRun& run);

}  // namespace gpuprof
