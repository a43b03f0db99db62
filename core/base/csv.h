// Fields of CSV as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {

// Whether `text` would be read as something else without quotes. An empty one is not: what it means is the writer's choice.
bool needs_csv_quotes(std::string_view text);
void append_csv_quoted(std::string& line, std::string_view text);

// The fields of one record, quotes taken off. False when a quote is still open at the end: the record goes on in the next line,
// or is none.
bool split_csv(std::string_view record, std::vector<std::string>& fields);

}  // namespace gpuprof
