// Fields of CSV as in RFC 4180, and the escaping of texts that docs/reference/formats/csv.md specifies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline base {

// `text`, made harmless in a spreadsheet and on a terminal. A text that would start a formula (= + - @, tab, line end,
// or their full-width forms) and is not a number gets a leading apostrophe, as does one that starts with an apostrophe;
// removing one restores the text. Invalid UTF-8 and control characters except tab and line feed become U+FFFD.
std::string sanitized_text(std::string_view text);

// Appends a harmless text as one field, quoted if necessary. An empty text appends nothing; its meaning is up to the
// writer.
void append_csv_text(std::string& line, std::string_view text);

// The fields of one record, without quotes. False if a quote is still open at the end: the record continues on the next
// line or is malformed.
bool split_csv(std::string_view record, std::vector<std::string>& fields);

}  // namespace gpuprof::base
