// `evaluate BASELINE.py OPTIMIZED.py`: is the one faster than the other, and still right? The work is done by the Python package
// (python/gpu_profile/evaluation), since what is judged is Python; this file declares the arguments, finds an
// interpreter and the package, and becomes that interpreter: streams, signals and exit status are its own.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/base/own_program.h"

namespace gpuprof {
namespace {

// Python's first lines: the package's folder goes where the current one would be, so that no file there is taken for it.
constexpr const char* kStart =
    "import sys\n"
    "folder = sys.argv.pop(1)\n"
    "sys.path[0:1] = [folder] if folder else []\n"
    "try:\n"
    "    from gpu_profile.evaluation.__main__ import main\n"
    "except ImportError as problem:\n"
    "    sys.exit(print('gpu-profile: evaluate needs the Python package gpu_profile in', sys.executable, '(pip "
    "install):',"
    " problem, file=sys.stderr) or 6)\n"
    "sys.exit(main())\n";

struct Arguments {
    std::string baseline, optimized;
    std::vector<std::string> passed;  // options as they go on to Python
};

bool exists(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0;
}

std::string parent_of(std::string path, int levels) {
    for (; levels > 0; --levels) path.resize(std::min(path.size(), path.rfind('/')));
    return path;
}

// The folder that holds the package: the wheel's (gpu_profile/_native/gpu-profile), else the checkout's of this build
// (build/NAME/gpu-profile); "" leaves it to the interpreter.
std::string package_folder() {
    std::string own = own_program();
    for (const std::string& folder : {parent_of(own, 3), parent_of(own, 3) + "/python"})
        if (exists(folder + "/gpu_profile/evaluation/__main__.py")) return folder;
    return {};
}

Result<ExitCode> evaluate(const Arguments& arguments) {
    const char* named = std::getenv("GPUPROF_PYTHON");
    std::string python = named != nullptr && *named != '\0' ? named : "python3";
    std::vector<std::string> words{python, "-c", kStart, package_folder(), arguments.baseline, arguments.optimized};
    words.insert(words.end(), arguments.passed.begin(), arguments.passed.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(python.c_str(), argv.data());
    return Error{ExitCode::internal,
                 fmt::format("evaluate needs Python, and {} cannot be started: {}; name one in GPUPROF_PYTHON", python,
                             std::strerror(errno))};
}

struct Passed {
    const char *flag, *value, *doc;  // no value: a flag
    bool number;
};
constexpr std::array kPassed{
    Passed{"--inputs", "FILE", "A file with inputs(seed), which returns the arguments of one call.", false},
    Passed{"--entry", "NAME", "The function in both files; kernel without it.", false},
    Passed{"--shape", "NxM", "Shape of made inputs, 1024x1024 without it; may be repeated.", false},
    Passed{"--dtype", "NAME", "Type of made inputs, float32 without it; may be repeated.", false},
    Passed{"--rtol", "X", "Relative tolerance of outputs, 1e-3 without it.", true},
    Passed{"--atol", "X", "Absolute tolerance of outputs, 1e-5 without it.", true},
    Passed{"--max-memory-mb", "N", "A constraint: highest memory use of OPTIMIZED.", true},
    Passed{"--fail-under", "SPEEDUP", "A constraint: lowest speedup.", true},
    Passed{"--repeat", "N", "Samples of each side, 30 without it.", true},
    Passed{"--checks", "N", "Fresh seeds for which outputs are checked first, 3 without it.", true},
    Passed{"--time-out", "S", "Seconds that one step of a side may take, 120 without it.", true},
    Passed{"--plain", nullptr, "Only the fixed lines, no table.", false},
    Passed{"--json", nullptr, "One JSON object instead of text.", false},
};

void declare_passed(CLI::App& app, const Passed& option, const std::shared_ptr<Arguments>& arguments) {
    std::string flag = option.flag;
    if (option.value == nullptr) {
        app.add_flag_callback(
            flag, [arguments, flag] { arguments->passed.push_back(flag); }, option.doc);
        return;
    }
    auto pass = [arguments, flag](const std::vector<std::string>& values) {
        for (const std::string& value : values) arguments->passed.push_back(fmt::format("{}={}", flag, value));
    };
    CLI::Option* added = app.add_option_function<std::vector<std::string>>(flag, pass, option.doc)
                             ->type_name(option.value)
                             ->type_size(1);
    if (option.number) added->check(CLI::Number)->type_name(option.value);
    if (flag == "--shape" || flag == "--dtype")
        added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::function<Result<ExitCode>()> declare(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    app.add_option("BASELINE", arguments->baseline, "The file with the function that is right.")->required();
    app.add_option("OPTIMIZED", arguments->optimized, "The file with the one that is judged.")->required();
    for (const Passed& option : kPassed) declare_passed(app, option, arguments);
    return [arguments] { return evaluate(*arguments); };
}

}  // namespace

extern const Command kEvaluateCommand;
const Command kEvaluateCommand{"evaluate", "Did it help?", "BASELINE.py OPTIMIZED.py [OPTIONS]",
                               "Judge a faster version: speed, correctness, memory.", declare};

}  // namespace gpuprof
