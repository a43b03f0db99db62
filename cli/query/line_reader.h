// Reads lines from a terminal, with editing and a persistent history if the machine has libedit, which is loaded only
// when a shell begins.
// Without libedit, lines are read as the terminal delivers them.
#pragma once

#include <optional>
#include <string>

namespace gpuprof {

class LineReader {
public:
    // `history`: a file name below $XDG_STATE_HOME/gpu-profile (~/.local/state), readable by the user only.
    explicit LineReader(const std::string& history);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    // Without the line feed; absent at the end of input.
    std::optional<std::string> read(const char* prompt);
    // Adds an entry, possibly of several lines, to the history.
    void remember(const std::string& entry);

private:
    void* library_ = nullptr;
    char* (*readline_)(const char*) = nullptr;
    int (*add_history_)(const char*) = nullptr;
    std::string file_;
};

}  // namespace gpuprof
