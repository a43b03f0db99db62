#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/text/ascii.h"

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

}  // namespace gpuprof::cli
