// A device's busy time over the window as one line of bars, and shares as horizontal bars: pictures in characters.
#pragma once

#include <span>
#include <string>

namespace gpuprof::inline report {

// `busy` (equal slices of the window, each 0..1) in `width` cells. A blank is exactly idle and a full block means full:
// a little work never looks like none, a little idle time never like none.
std::string busy_bars(std::span<const double> busy, int width, bool unicode);
// A horizontal bar for `share` (0..1) of `width` cells, in eighths of a cell. More than nothing is never empty.
std::string share_bar(double share, int width, bool unicode);

}  // namespace gpuprof::report
