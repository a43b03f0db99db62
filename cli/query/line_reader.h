// Lines from a terminal, with editing and a history that lasts, by libedit where the machine has it; it is loaded when a shell
// begins, so that no other command waits for it. Without it lines are read as the terminal gives them.
#pragma once

#include <optional>
#include <string>

namespace gpuprof {

class LineReader {
public:
    // `history`: name of the file below $XDG_STATE_HOME/gpu-profile (~/.local/state), which only the user can read.
    explicit LineReader(const std::string& history);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    // Without the line feed; nothing at the end of input.
    std::optional<std::string> read(const char* prompt);
    // Puts an entry, which may be several lines, into the history.
    void remember(const std::string& entry);

private:
    void* library_ = nullptr;
    char* (*readline_)(const char*) = nullptr;
    int (*add_history_)(const char*) = nullptr;
    std::string file_;
};

}  // namespace gpuprof
