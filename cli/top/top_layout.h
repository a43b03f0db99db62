// The content of top as lines of styled text: a pure function of the live state and the user's choices, so that tests
// need no terminal.
// cli/top/screen.h draws the lines.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/live/live_state.h"

namespace gpuprof::inline cli {

// A series as block characters, several rows high. A blank is an unknown value, a dot is exactly 0, and any other value
// shows at least the lowest block, so the three cannot be confused.
// Returns `rows` lines, top first, with one cell per value. `top` (> 0) is the full height; larger values are cut off.
std::vector<std::string> plot(std::span<const std::optional<double>> values, double top, int rows, bool unicode);

enum class Tone { plain, strong, faint, good, warning };

struct StyledText {
    Tone tone;
    std::string text;  // printable UTF-8
};
using StyledLine = std::vector<StyledText>;

struct TopView {
    int width = 100, height = 30;  // cells
    bool unicode = true;
    TimeNs now = 0;            // CLOCK_REALTIME; while paused, the time of the pause
    std::size_t selected = 0;  // index of the device whose plots are shown
    bool paused = false, help = false, ended = false;
    std::string problem;                        // why sampling ended; "" while it runs
    std::map<std::int64_t, std::string> names;  // of processes, by pid
};

// At most `height` lines of at most `width` cells.
std::vector<StyledLine> lay_out(const LiveState& state, const TopView& view);

// "no", "power", "power, heat", ...: what limits the clocks.
std::string throttling_of(double reasons);

}  // namespace gpuprof::cli
