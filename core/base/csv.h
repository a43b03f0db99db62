// Fields of CSV as RFC 4180 has them, and the rule for texts in them that docs/reference/formats/csv.md states.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

// `text` as harmless in a spreadsheet and on a terminal. What would begin a formula (= + - @, a tab, a line end, or their full-width
// forms) and is no number gets an apostrophe in front, and so does what begins with an apostrophe: taking one away gives the text
// back. Broken UTF-8 and control characters except tabs and line feeds become U+FFFD.
std::string harmless_text(std::string_view text);

// Appends a text as one field, harmless, between quotes where it needs them. An empty one is nothing: what that means is the
// writer's choice.
void append_csv_text(std::string& line, std::string_view text);

// The fields of one record, quotes taken off. False when a quote is still open at the end: the record goes on in the next line,
// or is none.
bool split_csv(std::string_view record, std::vector<std::string>& fields);

}  // namespace gpuprof
