// `evaluate BASELINE.py OPTIMIZED.py`: whether the optimised function is faster and still correct. The Python package
// does the work (python/gpu_profile/evaluation), because the code under test is Python. This file declares the
// arguments and replaces this process with an interpreter (cli/python_package.h).
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_options.h"
#include "cli/python_package.h"

namespace gpuprof::inline cli {
namespace {

struct EvaluateArguments {
    std::string baseline, optimized;
    std::shared_ptr<std::vector<std::string>> passed = std::make_shared<std::vector<std::string>>();
};

Result<ExitCode> evaluate(const EvaluateArguments& arguments) {
    Result<std::vector<std::string>> words = python_words("evaluate", "evaluation");
    if (!words.ok()) return words.error();
    words->insert(words->end(), {arguments.baseline, arguments.optimized});
    words->insert(words->end(), arguments.passed->begin(), arguments.passed->end());
    return become_python("evaluate", std::move(*words));
}

constexpr PassedOption kPassedByEvaluate[] = {
    {"--inputs", "FILE", "Python file whose inputs(seed) returns the arguments of one call."},
    {"--entry", "NAME", "Name of the function in both files (default: kernel)."},
    {"--shape", "NxM", "Shape of generated inputs (default: 1024x1024); may be repeated."},
    {"--dtype", "NAME", "Data type of generated inputs (default: float32); may be repeated."},
    {"--rtol", "X", "Relative tolerance of outputs (default: by dtype, 1e-3 for float32).", PassedOption::number},
    {"--atol", "X", "Absolute tolerance of outputs (default: by dtype and scale).", PassedOption::number},
    {"--max-error-ratio", "X",
     "Maximum error against float64, relative to the baseline's own (default: 10; none with --rtol or --atol).",
     PassedOption::number},
    {"--max-memory-mb", "N", "Peak memory allowed for OPTIMIZED, in MB; exit with 1 above it.", PassedOption::number},
    {"--fail-under", "SPEEDUP", "Minimum speedup; exit with 1 below it.", PassedOption::number},
    {"--repeat", "N", "Number of samples per side (default: 30).", PassedOption::number},
    {"--checks", "N", "Number of fresh seeds for the initial check of outputs (default: 3).", PassedOption::number},
    {"--time-out", "S", "Timeout of one step of a side, in seconds (default: 120).", PassedOption::seconds},
    {"--plain", "", "Print only the fixed lines, without the table."},
    {"--json", "", "Print one JSON object instead of text."},
};

std::function<Result<ExitCode>()> declare_evaluate(CommandLine& line) {
    auto arguments = std::make_shared<EvaluateArguments>();
    line.option("BASELINE", arguments->baseline, "Python file with the reference function.").required();
    line.option("OPTIMIZED", arguments->optimized, "Python file with the function to judge.").required();
    declare_passed(line, kPassedByEvaluate, arguments->passed);
    return [arguments] { return evaluate(*arguments); };
}

}  // namespace

extern const Command kEvaluateCommand;
const Command kEvaluateCommand{"evaluate", "Benchmark", "BASELINE.py OPTIMIZED.py [OPTIONS]",
                               "Judge an optimised function against its baseline: speed, results, memory.",
                               declare_evaluate};

}  // namespace gpuprof::cli
