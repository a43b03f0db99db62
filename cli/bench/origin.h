// Where a result of `bench` comes from: program, time, command line, machine.
#pragma once

#include "measure/bench_document.h"

namespace gpuprof {

// Fills everything but the benchmarks. The command line is this process's, without secrets, or left out.
void describe_run(measure::BenchDocument& document, bool with_command_line);

}  // namespace gpuprof
