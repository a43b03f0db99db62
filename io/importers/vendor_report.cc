#include "io/importers/vendor_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/base/files/path_search.h"
#include "core/base/files/temporary_file.h"
#include "core/base/spawn_actions.h"

namespace gpuprof::inline importers {
namespace {

struct VendorReport {
    std::string_view ending, magic, tool, command;  // of the tool, for people
};
constexpr VendorReport kVendorReports[] = {
    {".nsys-rep", "", "nsys", "nsys export --type sqlite -o OUT.sqlite FILE"},
    {".qdrep", "", "nsys", "nsys export --type sqlite -o OUT.sqlite FILE"},
    {".ncu-rep", "NVR\0", "ncu", "ncu --import FILE --csv --page raw > OUT.csv"},
    {".ncu-repz", "", "ncu", "ncu --import FILE --csv --page raw > OUT.csv"},
};

const VendorReport* vendor_report_of(std::string_view file, std::string_view head) {
    for (const VendorReport& each : kVendorReports)
        if (file.ends_with(each.ending) || (!each.magic.empty() && head.starts_with(each.magic))) return &each;
    return nullptr;
}

pid_t start(const std::vector<std::string>& arguments, int input, int output, bool own_session) {
    SpawnActions actions;
    if (own_session) actions.lead_session();
    for (auto [wanted, stream] : {std::pair(input, STDIN_FILENO), {output, STDOUT_FILENO}})
        if (wanted >= 0)
            actions.duplicate(wanted, stream);
        else
            actions.open(stream, "/dev/null", O_RDWR);
    actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    pid_t child = -1;
    return actions.spawn(child, arguments[0], arguments) == 0 ? child : -1;
}

// The exit status in the shell's convention.
int wait_for(pid_t child) {
    if (child < 0) return 127;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Its standard output goes to `output`; its standard error is discarded.
int run(const std::vector<std::string>& arguments, int output = -1) {
    return wait_for(start(arguments, -1, output, false));
}

// Removes a folder as soon as this process ends, even if it is killed: a shell waits for the end of a pipe whose other
// end only this process has.
class FolderReaper {
public:
    explicit FolderReaper(const std::string& folder) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return;
        child_ = start({"/bin/sh", "-c", "read -r _; rm -rf -- \"$0\"", folder}, ends[0], -1, true);
        close(ends[0]);
        held_ = ends[1];
    }
    FolderReaper(const FolderReaper&) = delete;
    FolderReaper& operator=(const FolderReaper&) = delete;
    ~FolderReaper() {
        if (held_ >= 0) close(held_);
        if (child_ >= 0) wait_for(child_);
    }

private:
    int held_ = -1;
    pid_t child_ = -1;
};

// nsys writes only to named files.
Result<std::unique_ptr<Source>> export_nsys(const std::string& tool, const std::string& whole, const std::string& file,
                                            const ReadLimits& limits, int& status) {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    if (!folder.ok()) return folder.error();
    FolderReaper keeper(folder->path());
    std::string made = folder->path() + "/export.sqlite";
    status = run({tool, "export", "--type", "sqlite", "--output", made, whole});
    if (status != 0) return Error{};
    return open_source(made, file, limits);
}

Result<std::unique_ptr<Source>> export_ncu(const std::string& tool, const std::string& whole, const std::string& file,
                                           const ReadLimits& limits, int& status) {
    Result<TemporaryFile> made = TemporaryFile::make();
    if (!made.ok()) return made.error();
    status = run({tool, "--import", whole, "--csv", "--page", "raw"}, made->fd());
    if (status != 0) return Error{};
    return open_source(made->path(), file, limits);
}

}  // namespace

bool is_vendor_report(std::string_view file, std::string_view head) { return vendor_report_of(file, head) != nullptr; }

Result<std::unique_ptr<Source>> export_vendor_report(const std::string& file, std::string_view head,
                                                     const ReadLimits& limits) {
    const VendorReport& closed = *vendor_report_of(file, head);
    std::string by_hand =
        fmt::format("only {} can read this format; export the report: {}", closed.tool, closed.command);
    auto fail = [&](std::string_view why) {
        return Error{ExitCode::unreadable, fmt::format("cannot read {}: {}", file, why)};
    };
    if (file == "-") return fail(by_hand + " (FILE must be a file, not a pipe)");
    std::string tool = find_program(closed.tool);
    if (tool.empty()) return fail(fmt::format("{} ({} is not on PATH)", by_hand, closed.tool));
    std::string whole =
        std::filesystem::absolute(file).string();  // absolute, so that a name with a leading dash is not an option
    int status = 0;
    Result<std::unique_ptr<Source>> source = closed.tool == "nsys" ? export_nsys(tool, whole, file, limits, status)
                                                                   : export_ncu(tool, whole, file, limits, status);
    if (status != 0)
        return fail(
            fmt::format("{} failed to export it (exit status {}); try: {}", closed.tool, status, closed.command));
    return source;
}

}  // namespace gpuprof::importers
