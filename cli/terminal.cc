#include "cli/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/progress.h"
#include "core/base/files/path_search.h"
#include "core/base/text/ascii.h"
#include "core/base/text/shell_words.h"

namespace gpuprof::inline cli {
namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

constexpr int kMinWidth = 40, kMaxWidth = 1000, kDefaultWidth = 100;

int terminal_width(bool terminal) {
    int columns = std::atoi(std::string(environment("COLUMNS")).c_str());
    winsize size{};
    if (columns <= 0 && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns <= 0 ? kDefaultWidth : std::clamp(columns, kMinWidth, kMaxWidth);
}

// POSIX: LC_ALL overrides LC_CTYPE, which overrides LANG; the first one that is set decides.
bool shows_unicode() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(environment(name));
        if (value.empty()) continue;
        std::transform(value.begin(), value.end(), value.begin(), to_lower);
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return true;  // unset, as in containers and services: assume UTF-8
}

}  // namespace

Style style_for(const std::string& file) {
    bool terminal = file == "-" && isatty(STDOUT_FILENO) == 1;
    Style style;
    style.width = terminal_width(terminal);
    style.colour = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
    style.unicode = shows_unicode();
    return style;
}

namespace {

bool fits_the_screen(std::string_view text) {
    winsize size{};
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return true;
    return std::count(text.begin(), text.end(), '\n') < size.ws_row;
}

// "" for none.
std::string pager_command() {
    if (const char* named = std::getenv("PAGER")) return named == std::string_view("cat") ? "" : named;
    std::string less = find_program("less");
    return less.empty() ? "" : shell_quoted(less);
}

}  // namespace

Status print_paged(std::string_view text) {
    std::string command = fits_the_screen(text) ? "" : pager_command();
    if (command.empty()) return print(text);
    end_progress();  // the screen is the pager's from here on
    // As git does: colours, and no cleared screen; what the user has set stays.
    command = "LESS=${LESS-FRX}; export LESS; " + command;
    signal(SIGPIPE, SIG_DFL);  // the pager inherits it
    FILE* pager = popen(command.c_str(), "w");
    signal(SIGPIPE, SIG_IGN);
    if (pager == nullptr) return print(text);
    void (*before)(int) = signal(SIGINT, SIG_IGN);    // Ctrl-C is for the pager
    std::fwrite(text.data(), 1, text.size(), pager);  // who leaves the pager early does not want the rest
    constexpr int kNotFound = 127;
    int status = pclose(pager);
    signal(SIGINT, before);
    return WIFEXITED(status) && WEXITSTATUS(status) == kNotFound ? print(text) : Status();
}

}  // namespace gpuprof::cli
