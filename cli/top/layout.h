// What top shows, as lines of styled text: a pure function of the live state and of what the person chose, so that it is
// tested without a terminal. cli/top/screen.h puts the lines on one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/live/state.h"

namespace gpuprof {

enum class Tone { plain, strong, faint, good, warning };

struct StyledText {
    Tone tone;
    std::string text;  // printable UTF-8
};
using StyledLine = std::vector<StyledText>;

struct TopView {
    int width = 100, height = 30;  // cells
    bool unicode = true;
    TimeNs now = 0;            // CLOCK_REALTIME; of the moment of the pause while paused
    std::size_t selected = 0;  // index of the device whose plots are shown
    bool paused = false, help = false, ended = false;
    std::string trouble;                        // why sampling ended; "" while it goes on
    std::map<std::int64_t, std::string> names;  // of processes, by pid
};

// At most `height` lines of at most `width` cells.
std::vector<StyledLine> lay_out(const LiveState& state, const TopView& view);

// "no", "power", "power, heat", ...; what holds the clocks down.
std::string throttling_of(double reasons);

}  // namespace gpuprof
