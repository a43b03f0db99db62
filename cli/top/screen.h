// The terminal for top: draws lines, reads keys and knows its size, through ncurses. However the program ends (a key, a
// signal, an exception, a crash), the terminal is restored. One instance at a time.
#pragma once

#include <memory>
#include <span>

#include "cli/top/top_layout.h"
#include "core/base/result.h"

namespace gpuprof::inline cli {

class TopScreen {
public:
    // Fails if ncurses does not know the terminal type.
    static Result<std::unique_ptr<TopScreen>> open(bool colour);
    ~TopScreen();

    // Whether block characters can be shown.
    bool unicode() const { return unicode_; }
    int width() const;
    int height() const;
    void draw(std::span<const StyledLine> lines);
    // The next key within the timeout; 0 if there was none. A resize counts as an unused key.
    int key(int timeout_ms);
    // SIGINT, SIGTERM or SIGHUP if one arrived; 0 otherwise.
    static int signalled();

private:
    explicit TopScreen(bool colour);
    bool colour_, unicode_ = false;
};

}  // namespace gpuprof::cli
