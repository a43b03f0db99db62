#include "cli/python_package.h"
#include "cli/command_options.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/files/path_search.h"

namespace gpuprof::inline cli {
namespace {

// The first lines for Python. The package's folder replaces the current one in sys.path, so that no local file shadows
// it.
constexpr const char* kStart =
    "import sys\n"
    "folder = sys.argv.pop(1)\n"
    "sys.path[0:1] = [folder] if folder else []\n"
    "try:\n"
    "    from gpu_profile.{0}.__main__ import main\n"
    "except ImportError as problem:\n"
    "    sys.exit(print('gpu-profile: {1} cannot import the Python package gpu_profile in', sys.executable + ':',"
    " problem, '; install it with pip', file=sys.stderr) or 6)\n"
    "sys.exit(main())\n";

bool exists(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0;
}

std::string parent_of(std::string path, int levels) {
    for (; levels > 0; --levels) path.resize(std::min(path.size(), path.rfind('/')));
    return path;
}

// The folder that contains the package: in a wheel (gpu_profile/_native/gpu-profile), or in the checkout of this build
// (build/NAME/gpu-profile); "" leaves the search to the interpreter.
std::string package_folder(const std::string& module) {
    std::string own = this_executable();
    for (const std::string& folder : {parent_of(own, 3), parent_of(own, 3) + "/python"})
        if (exists(fmt::format("{}/gpu_profile/{}/__main__.py", folder, module))) return folder;
    return {};
}

// The interpreter of the environment that the program is installed in (venv, uv, pipx, conda), or python3 in PATH.
std::string environment_python() {
    std::string folder = parent_of(this_executable(), 1), prefix = parent_of(folder, 1), own = folder + "/python3";
    bool environment = exists(prefix + "/pyvenv.cfg") || exists(prefix + "/conda-meta");
    return environment && access(own.c_str(), X_OK) == 0 ? own : "python3";
}

}  // namespace

Result<std::vector<std::string>> python_words(const std::string& command, const std::string& module) {
    const char* named = std::getenv("GPUPROF_PYTHON");
    std::string wanted = named != nullptr && *named != '\0' ? named : environment_python();
    std::string python = find_program(wanted);
    if (python.empty()) return no_python(command, wanted, "not found in PATH");
    return std::vector<std::string>{python, "-c", fmt::format(kStart, module, command), package_folder(module)};
}

Error no_python(const std::string& command, const std::string& python, const std::string& reason) {
    return {ExitCode::internal,
            fmt::format("{} needs Python, but '{}' cannot be started: {}; set GPUPROF_PYTHON to an interpreter",
                        command, python, reason)};
}

Error become_python(const std::string& command, std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    return no_python(command, words.front(), std::strerror(errno));
}

PassedOption PassedOption::of(const OptionSpec& spec) {
    Kind kind = text;
    if (spec.kind == OptionKind::whole) kind = whole;
    if (spec.kind == OptionKind::share) kind = share;
    if (spec.kind == OptionKind::time || spec.kind == OptionKind::limit) kind = seconds;
    return {spec.flag, spec.value, spec.doc, kind};
}

void declare_passed(CommandLine& line, std::span<const PassedOption> options,
                    const std::shared_ptr<std::vector<std::string>>& passed) {
    constexpr std::int64_t kMaxValue = 10'000'000;
    for (const PassedOption& option : options) {
        std::string flag(option.flag), doc(option.doc);
        if (option.value.empty()) {
            line.flag(
                flag, [passed, flag] { passed->push_back(flag); }, doc);
            continue;
        }
        auto pass = [passed, flag](const std::vector<std::string>& values) {
            for (const std::string& value : values) passed->push_back(fmt::format("{}={}", flag, value));
        };
        DeclaredOption added = line.list_option(flag, pass, doc);
        if (option.kind == PassedOption::number) added.number();
        if (option.kind == PassedOption::whole) added.integer_range(1, kMaxValue);
        if (option.kind == PassedOption::share) added.fraction();
        if (option.kind == PassedOption::seconds) added.seconds(0, 1e6);
        added.value(std::string(option.value).c_str()).append_each_use().suggest(option.words);
    }
}

}  // namespace gpuprof::cli
