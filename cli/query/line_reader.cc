#include "cli/query/line_reader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "cli/output.h"

namespace gpuprof {
namespace {

constexpr int kKept = 1000;  // entries of the history file

// Path of the history; "" if there is no place for it.
std::string history_file(const std::string& name) {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    std::filesystem::path folder;
    if (state != nullptr && *state == '/')
        folder = state;
    else if (home != nullptr && *home == '/')
        folder = std::filesystem::path(home) / ".local" / "state";
    else
        return "";
    folder /= "gpu-profile";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    return failed ? "" : (folder / name).string();
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

template <class... Arguments>
void call(void* library, const char* name, Arguments... arguments) {
    int (*function)(Arguments...) = nullptr;
    if (find(library, name, function)) function(arguments...);
}

}  // namespace

LineReader::LineReader(const std::string& history) {
    library_ = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    if (!find(library_, "readline", readline_) || !find(library_, "add_history", add_history_)) {
        readline_ = nullptr;
        return;
    }
    file_ = history_file(history);
    call(library_, "using_history");
    call(library_, "stifle_history", kKept);
    if (!file_.empty()) call(library_, "read_history", file_.c_str());
}

LineReader::~LineReader() {
    if (readline_ == nullptr || file_.empty()) return;
    Result<Output> file = Output::open(file_, Readers::owner);
    if (!file.ok()) return;
    call(library_, "write_history", file->part().c_str());
    (void)file->close();
}

std::optional<std::string> LineReader::read(const char* prompt) {
    if (readline_ != nullptr) {
        char* line = readline_(prompt);
        if (line == nullptr) return std::nullopt;
        std::string text(line);
        std::free(line);
        return text;
    }
    std::fputs(prompt, stdout);
    std::fflush(stdout);
    char* line = nullptr;
    std::size_t room = 0;
    ssize_t got = getline(&line, &room, stdin);
    std::string text(line == nullptr || got < 0 ? "" : line, got < 0 ? 0 : static_cast<std::size_t>(got));
    std::free(line);
    if (got < 0) return std::nullopt;
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

void LineReader::remember(const std::string& entry) {
    if (readline_ == nullptr) return;
    std::string line = entry;
    std::replace(line.begin(), line.end(), '\n', ' ');
    add_history_(line.c_str());
}

}  // namespace gpuprof
