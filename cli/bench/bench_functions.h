// Functions of a Python file. The package gpu_profile benchmarks them in a separate process
// (python/gpu_profile/bench_command).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/python_package.h"
#include "core/base/result.h"
#include "measure/bench_document.h"

namespace gpuprof::inline cli {

struct FunctionsFound {
    measure::BenchDocument document;  // benchmarks only; empty if all failed
    ExitCode code = ExitCode::ok;     // of the process, which has already reported why
};

// `what` is FILE.py or FILE.py:FUNCTION, `passed` the options for the package. Call before other threads exist.
Result<FunctionsFound> bench_functions(const std::string& what, const std::vector<std::string>& passed);

// The files that the process reads: the file of `what` and the file of the inputs.
std::vector<std::string> files_of_functions(const std::string& what, const std::vector<std::string>& passed);

// Options that apply to functions only.
std::span<const PassedOption> function_options();

}  // namespace gpuprof::cli
