// Functions of a Python file: the package gpu_profile benches them in a process of its own (python/gpu_profile/bench_command).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/python_package.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof {

struct FunctionsFound {
    measure::BenchDocument document;  // only benchmarks; none when all failed
    ExitCode code = ExitCode::ok;     // of the process, which has said why
};

// `what` is FILE.py or FILE.py:FUNCTION, `passed` the options of the package. Call before other threads exist.
Result<FunctionsFound> bench_functions(const std::string& what, const std::vector<std::string>& passed);

// The files that the process reads: that of `what`, and that of the inputs.
std::vector<std::string> files_of_functions(const std::string& what, const std::vector<std::string>& passed);

// The options that only functions have.
std::span<const PassedOption> function_options();

}  // namespace gpuprof
