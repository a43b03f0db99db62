#include "core/importers/closed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/path_search.h"
#include "core/base/temporary_file.h"

extern char** environ;

namespace gpuprof {
namespace {

struct Closed {
    std::string_view ending, magic, tool, command;  // of the tool, for people
};
constexpr Closed kClosed[] = {
    {".nsys-rep", "", "nsys", "nsys export --type sqlite -o OUT.sqlite FILE"},
    {".qdrep", "", "nsys", "nsys export --type sqlite -o OUT.sqlite FILE"},
    {".ncu-rep", "NVR\0", "ncu", "ncu --import FILE --csv --page raw > OUT.csv"},
    {".ncu-repz", "", "ncu", "ncu --import FILE --csv --page raw > OUT.csv"},
};

const Closed* closed_of(std::string_view file, std::string_view head) {
    for (const Closed& each : kClosed)
        if (file.ends_with(each.ending) || (!each.magic.empty() && head.starts_with(each.magic))) return &each;
    return nullptr;
}

// The exit status, as shells say it; what it prints goes to `output`, what it complains of is not shown.
int run(const std::vector<std::string>& arguments, const std::string& output) {
    std::vector<char*> words;
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    int failed = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return 127;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

bool is_closed_report(std::string_view file, std::string_view head) { return closed_of(file, head) != nullptr; }

Result<ExportedReport> export_closed(const std::string& file, std::string_view head) {
    const Closed& closed = *closed_of(file, head);
    std::string by_hand = fmt::format("a report that only {} can read; export it: {}", closed.tool, closed.command);
    auto fail = [&](std::string_view why) { return Error{ExitCode::unreadable, fmt::format("{}: {}", file, why)}; };
    if (file == "-") return fail(by_hand + " (a file, not a pipe)");
    const char* path = std::getenv("PATH");
    std::string tool = find_in_path(closed.tool, path == nullptr ? "" : path);
    if (tool.empty()) return fail(fmt::format("{} ({} is not on PATH)", by_hand, closed.tool));
    Result<TemporaryFolder> made_folder = TemporaryFolder::make();
    if (!made_folder.ok()) return made_folder.error();
    auto folder = std::make_shared<TemporaryFolder>(std::move(made_folder).value());
    bool nsys = closed.tool == "nsys";
    std::string made = folder->path() + (nsys ? "/export.sqlite" : "/export.csv");
    std::string whole = std::filesystem::absolute(file).string();  // a name that begins with a dash is no option
    int status = nsys ? run({tool, "export", "--type", "sqlite", "--output", made, whole}, folder->path() + "/said")
                      : run({tool, "--import", whole, "--csv", "--page", "raw"}, made);
    if (status != 0)
        return fail(
            fmt::format("{} could not export it (exit status {}); try: {}", closed.tool, status, closed.command));
    Result<std::unique_ptr<Source>> source = open_source(made, file);
    if (!source) return source.error();
    return ExportedReport{std::move(folder), std::move(*source)};
}

}  // namespace gpuprof
