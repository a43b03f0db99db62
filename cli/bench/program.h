// Whole programs: a command is run again and again, and what it took is kept per run.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/rules.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof {

struct ProgramBench {
    std::vector<std::string> command;
    measure::StoppingOptions rules = kProgramRules;
    int warmup_runs = 1;
    bool show_output = false;      // the command's standard output goes to standard error, not away
    bool ignore_failure = false;   // runs that end with another status than 0 count like others
    bool no_command_line = false;  // the benchmark has the name of the program only
    std::string devices = "0", backend = "auto";
};

// Call before other threads exist. A run that fails ends it all with an error; one that was ended by a signal that asked this
// program to end does so with that signal's status.
Result<measure::Benchmark> bench_program(const ProgramBench& bench);

}  // namespace gpuprof
