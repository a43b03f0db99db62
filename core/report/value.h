// Cells as people read them: numbers with units (core/base/readable.h), percentages under a header with the %, a dash for
// what is absent, names that fit. For text and Markdown only; machine formats never pass through here.
#pragma once

#include <string>
#include <string_view>

#include "core/model/result_table.h"

namespace gpuprof {

// `text` for a terminal or a table: control characters and broken UTF-8 replaced, so that no name can break a line or
// command the terminal.
std::string printable(std::string_view text);
// Terminal cells of a printable text.
int display_width(std::string_view text);
// A printable text cut in the middle to at most `width` cells, with an ellipsis of its style.
std::string shorten_middle(const std::string& text, int width, bool unicode);
// Padded with spaces to `width` cells.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);

// What a reader calls the column: unit suffixes go (values carry units), underscores become spaces.
std::string header_of(const ResultColumn& column);
// The cell as people read it. Points in time (start_ns, ...) are shown from `origin`, the start of the window.
std::string format_cell(const Cell& cell, const ResultColumn& column, std::int64_t origin, bool unicode);
// Whether the column holds numbers, which are aligned on the right.
bool is_number(const ResultColumn& column);

}  // namespace gpuprof
