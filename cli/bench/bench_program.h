// Whole programs: a command runs repeatedly, and the cost of each run is kept.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/rules.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

struct ProgramBench {
    std::vector<std::string> command;
    measure::StoppingOptions rules = kProgramRules;
    int warmup_runs = 1;
    bool show_output = false;      // send the command's standard output to standard error instead of discarding it
    bool ignore_failure = false;   // count runs that exit with a status other than 0
    bool no_command_line = false;  // name the benchmark after the program only
    std::string devices = "0", backend = "auto";
};

// Call before other threads exist. A failed run ends the benchmark with an error. If a signal asked this program to
// end, the exit code is that of the signal.
Result<measure::Benchmark> bench_program(const ProgramBench& bench);

}  // namespace gpuprof::cli
