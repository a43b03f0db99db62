// The terminal under top: draws lines, reads keys, knows its size, by ncurses. However the program ends (a key, a signal,
// an exception, a crash), the terminal is left as it was found. One at a time.
#pragma once

#include <memory>
#include <span>

#include "cli/top/layout.h"
#include "core/base/result.h"

namespace gpuprof {

class TopScreen {
public:
    // An error when the terminal is of a kind that ncurses does not know.
    static Result<std::unique_ptr<TopScreen>> open(bool colour);
    ~TopScreen();

    // Whether block characters can be shown.
    bool unicode() const { return unicode_; }
    int width() const;
    int height() const;
    void draw(std::span<const StyledLine> lines);
    // The next key within the time; 0 when there was none. Resizing is a key that is none of ours.
    int key(int timeout_ms);
    // SIGINT, SIGTERM or SIGHUP when one came; 0 otherwise.
    static int signalled();

private:
    explicit TopScreen(bool colour);
    bool colour_, unicode_ = false;
};

}  // namespace gpuprof
