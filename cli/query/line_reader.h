// Reads lines from a terminal with editing, Tab completion and a persistent history, by libedit if installed. libedit
// is loaded when a shell starts, so that other commands do not pay for it. Without libedit, only the terminal's own
// line editing works.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/completion.h"

namespace gpuprof::inline cli {

class LineReader {
public:
    virtual ~LineReader() = default;

    enum class Ending { line, interrupted, end_of_input };
    struct Line {
        Ending ending = Ending::end_of_input;
        std::string text;  // of a `line`, without the line feed
    };
    // `before`: earlier lines of the same entry, used by completion. Ctrl-C discards the line: `interrupted`.
    virtual Line read(const std::string& prompt, std::string_view before) = 0;
    // Adds an entry, which may have several lines, to the history.
    virtual void remember(const std::string& entry) = 0;
};

// `history`: name of a file in $XDG_STATE_HOME/gpu-profile (~/.local/state/gpu-profile) that only the user can read.
std::unique_ptr<LineReader> open_terminal(const std::string& history, Completer complete);

// The lines of a text, for scripts.
std::unique_ptr<LineReader> read_text(std::string text);

}  // namespace gpuprof::cli
