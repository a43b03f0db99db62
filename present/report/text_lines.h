// Lines of text in terminal cells: what a name looks like, how wide it is, how it is cut, padded and wrapped;
// and pictures in characters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text/utf8.h"

namespace gpuprof::inline report {

// Terminal cells of a printable text.
int display_width(std::string_view text);
// The beginning of a printable text, at most `width` cells of it.
std::string cut_end(const std::string& text, int width);
// A printable text cut in the middle to at most `width` cells, with an ellipsis of its style.
std::string shorten_middle(const std::string& text, int width, bool unicode);
// A printable name cut to at most `width` cells. A C++ name that is too long first loses what tells least: a leading
// "void", the parameter list, the namespaces; then its middle.
std::string shorten_name(const std::string& name, int width, bool unicode);
// Padded with spaces to `width` cells.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);
// A printable text in lines of at most `width` cells, broken at spaces; a longer word is broken where it must be.
std::vector<std::string> wrap(std::string_view text, int width);
// The same, at most `most` of them: the last is filled to the width and says by an ellipsis that there is more.
std::vector<std::string> cut_lines(std::string_view text, int width, std::size_t most, bool unicode);

// A device's busy time over the window as one line of bars: `busy` (equal slices of the window, each 0..1) in `width` cells. A blank is exactly idle and a full block means full:
// a little work never looks like none, a little idle time never like none.
std::string busy_bars(std::span<const double> busy, int width, bool unicode);
// A horizontal bar for `share` (0..1) of `width` cells, in eighths of a cell. More than nothing is never empty.
std::string share_bar(double share, int width, bool unicode);

}  // namespace gpuprof::report
