// `evaluate BASELINE.py OPTIMIZED.py`: is the one faster than the other, and still right? The work is done by the Python package
// (python/gpu_profile/evaluation), since what is judged is Python; this file declares the arguments and becomes an interpreter
// with them (cli/python_package.h).
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/python_package.h"

namespace gpuprof {
namespace {

struct Arguments {
    std::string baseline, optimized;
    std::shared_ptr<std::vector<std::string>> passed = std::make_shared<std::vector<std::string>>();
};

Result<ExitCode> evaluate(const Arguments& arguments) {
    Result<std::vector<std::string>> words = python_words("evaluate", "evaluation");
    if (!words.ok()) return words.error();
    words->insert(words->end(), {arguments.baseline, arguments.optimized});
    words->insert(words->end(), arguments.passed->begin(), arguments.passed->end());
    return become_python("evaluate", std::move(*words));
}

constexpr PassedOption kPassed[] = {
    {"--inputs", "FILE", "A file with inputs(seed), which returns the arguments of one call."},
    {"--entry", "NAME", "The function in both files; kernel without it."},
    {"--shape", "NxM", "Shape of made inputs, 1024x1024 without it; may be repeated."},
    {"--dtype", "NAME", "Type of made inputs, float32 without it; may be repeated."},
    {"--rtol", "X", "Relative tolerance of outputs, 1e-3 without it.", PassedOption::number},
    {"--atol", "X", "Absolute tolerance of outputs, 1e-5 without it.", PassedOption::number},
    {"--max-memory-mb", "N", "A constraint: highest memory use of OPTIMIZED.", PassedOption::number},
    {"--fail-under", "SPEEDUP", "A constraint: lowest speedup.", PassedOption::number},
    {"--repeat", "N", "Samples of each side, 30 without it.", PassedOption::number},
    {"--checks", "N", "Fresh seeds for which outputs are checked first, 3 without it.", PassedOption::number},
    {"--time-out", "S", "Seconds that one step of a side may take, 120 without it.", PassedOption::seconds},
    {"--plain", "", "Only the fixed lines, no table."},
    {"--json", "", "One JSON object instead of text."},
};

std::function<Result<ExitCode>()> declare(CommandLine& line) {
    auto arguments = std::make_shared<Arguments>();
    line.option("BASELINE", arguments->baseline, "The file with the function that is right.").required();
    line.option("OPTIMIZED", arguments->optimized, "The file with the one that is judged.").required();
    declare_passed(line, kPassed, arguments->passed);
    return [arguments] { return evaluate(*arguments); };
}

}  // namespace

extern const Command kEvaluateCommand;
const Command kEvaluateCommand{"evaluate", "Did it help?", "BASELINE.py OPTIMIZED.py [OPTIONS]",
                               "Judge a faster version: speed, correctness, memory.", declare};

}  // namespace gpuprof
