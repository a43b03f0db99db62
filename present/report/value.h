// Cells for people: numbers with units (core/base/text/readable.h), percentages under a header with %, a dash for absent
// values. Used by text and Markdown, never by machine formats.
#pragma once

#include <string>

#include "core/model/result_table.h"

namespace gpuprof::inline report {

// What a reader calls the column: unit suffixes go (values carry units), underscores become spaces.
std::string header_of(const ResultColumn& column);
// The cell as people read it, printable (present/report/text_lines.h).
std::string format_cell(const Cell& cell, const ResultColumn& column, bool unicode);
// Whether the column holds numbers, which are aligned on the right.
// An amount whose unit is in another column.
std::string format_amount(double value, std::string_view unit);
bool is_number(const ResultColumn& column);

}  // namespace gpuprof::report
