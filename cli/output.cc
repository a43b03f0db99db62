#include "cli/output.h"

#include <fmt/format.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/progress.h"
#include "core/base/caught.h"
#include "core/base/files/names_in.h"
#include "core/base/text/utf8.h"
#include "core/model/build/damage.h"
#include "io/importers/importer.h"

namespace gpuprof::inline cli {
namespace {

// State for a signal handler: fixed memory. A path is written only while `set` is false.
struct Slot {
    std::atomic<bool> taken{false}, set{false};
    std::array<char, PATH_MAX> path{};
};
constexpr int kSlots = 8;  // more outputs at once than any command has
std::array<Slot, kSlots> slots;

void remove_and_end(int signal) {
    for (Slot& slot : slots)
        if (slot.set) unlink(slot.path.data());
    raise(signal);  // the handler is already removed (SA_RESETHAND)
}

void watch_signals() {
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = remove_and_end;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}

}  // namespace

UnfinishedFile::UnfinishedFile() : slot_(-1) {
    for (int i = 0; i < kSlots && slot_ < 0; ++i)
        if (!slots[static_cast<std::size_t>(i)].taken.exchange(true)) slot_ = i;
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

UnfinishedFile::~UnfinishedFile() {
    if (slot_ < 0) return;
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.set = false;
    slot.taken = false;
}

void UnfinishedFile::set(const std::string& path) {
    if (slot_ < 0) return;
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.set = false;
    if (path.size() >= slot.path.size()) return;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.set = true;
    watch_signals();
}

namespace {

namespace fs = std::filesystem;

// Identifies a file. Regular files only: nothing else is replaced.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity(const std::string& file, int stream) {
    struct stat found {};
    int failed = file == "-" ? fstat(stream, &found) : stat(file.c_str(), &found);
    if (failed != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
    return Identity{found.st_dev, found.st_ino};
}

bool is_folder(const std::string& input) {
    std::error_code failed;
    return input != "-" && fs::is_directory(input, failed);
}

// The files that reading `input` reads: the file itself, or the recordings in a folder.
bool reads(const std::string& input, const Identity& file) {
    if (!is_folder(input)) return identity(input, STDIN_FILENO) == file;
    for (const std::string& name : names_in(input)) {
        std::string path = (fs::path(input) / name).string();
        if (identity(path, -1) != file) continue;
        Result<OpenedFile> opened = recognise_file(path, path, {});
        return !opened.ok() || !opened->is_foreign();
    }
    return false;
}

// How the output relates to `input`, in words.
std::string as_input(const std::string& input, const std::string& output) {
    if (input == output) return "also the input";
    if (input == "-") return "also the standard input";
    return fmt::format("{} {}", is_folder(input) ? "one of the recordings in" : "the same file as the input", input);
}

std::string place_of(const std::string& file) {
    std::error_code failed;
    fs::path place = fs::weakly_canonical(file, failed);
    return failed ? file : place.string();
}

}  // namespace

Result<Output> Output::open(const std::string& file, FileAccess readers) {
    if (file == "-") end_progress();
    UnfinishedFile part;
    Result<FileSink> sink = FileSink::open(file, {.owner_only = readers == FileAccess::owner,
                                                  .announce = [&part](const std::string& path) { part.set(path); }});
    if (!sink.ok()) return sink.error();
    return Output(std::move(*sink), std::move(part));
}

Status write_output(const std::string& file, const std::function<Status(Sink&)>& content, FileAccess readers) {
    Result<Output> output = Output::open(file, readers);
    if (!output.ok()) return output.error();
    Status written = content(*output);
    return written.ok() || output->failed() ? output->close() : written;
}

Status check_outputs(std::span<const std::string> outputs, std::span<const std::string> inputs) {
    std::vector<std::string> places;
    for (const std::string& output : outputs) {
        if (output.empty()) continue;
        struct stat found {};
        bool exists = output != "-" && ::stat(output.c_str(), &found) == 0;
        if (output != "-" && !exists && errno == ENAMETOOLONG)
            return Error{ExitCode::usage, fmt::format("cannot write {}: {}", output, std::strerror(errno))};
        std::string name = output == "-" ? "standard output" : output;
        if (std::optional<Identity> file = identity(output, STDOUT_FILENO))
            for (const std::string& input : inputs)
                if (!input.empty() && reads(input, *file))
                    return Error{ExitCode::usage, fmt::format("cannot write {}: it is {}; choose another output", name,
                                                              as_input(input, output))};
        if (output == "-" || (exists && !S_ISREG(found.st_mode))) continue;
        std::string place = place_of(output);
        for (const std::string& other : places)
            if (other == place)
                return Error{ExitCode::usage,
                             fmt::format("cannot write {} twice; give each output its own file", name)};
        places.push_back(place);
    }
    return {};
}

Status check_output(const std::string& output, std::span<const std::string> inputs) {
    return check_outputs(std::span(&output, 1), inputs);
}

Result<std::string> capture_file(const CaptureName& name, std::span<const std::string> inputs) {
    std::string file = name.given.empty() ? name.usual : name.given;
    struct stat found {};
    bool exists = ::stat(file.c_str(), &found) == 0;
    if (exists && !S_ISREG(found.st_mode))
        return Error{ExitCode::usage,
                     fmt::format("cannot write {}: it is not a file; name a file for the capture", file)};
    if (Status free = check_output(file, inputs); !free) return free.error();
    if (exists && found.st_size > 0 && !name.given.empty() && !name.force)
        return Error{ExitCode::usage,
                     fmt::format("{} already exists; choose another name, or overwrite it with --force", file)};
    return file;
}

Status print(std::string_view text) {
    Result<Output> output = Output::open("-");
    output->write(text);
    return output->close();
}

void note(std::string_view line) {
    end_progress();
    // a file name may contain anything; a message has one line
    fmt::print(stderr, "gpu-profile: {}\n", printable(line));
}

void note_failure(const Status& status) noexcept {
    if (status) return;
    if (Status said = caught([&] { note(status.error().message); }); !said)
        std::fputs("gpu-profile: out of memory\n", stderr);
}

void note_damage(const Trace& trace) {
    if (std::string damage = damage_of(trace); !damage.empty())
        note(fmt::format("{}: {}", trace.origin().file, damage));
}

}  // namespace gpuprof::cli
