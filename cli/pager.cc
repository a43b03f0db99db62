#include "cli/pager.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/output.h"
#include "core/base/files/path_search.h"
#include "core/base/text/shell_words.h"

namespace gpuprof::inline cli {
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
