// One ResultTable as text that fits a width. Numbers are right aligned, long names are cut in the middle. When the
// columns do not fit, few rows are turned on their side; otherwise columns are omitted, those without values first,
// then the finer statistics, then from the right, and a line under the table names them. Nothing is omitted silently.
#pragma once

#include "present/report/report.h"

namespace gpuprof::inline report {

void write_text_table(const ResultTable& table, const Style& style, Sink& sink);

// The notes of the table, each in its own paragraph.
void write_notes(const ResultTable& table, const Style& style, Sink& sink);

// "k-12" for row 11 of a table with the prefix "k".
std::string handle_of(const ResultTable& table, std::size_t row);

}  // namespace gpuprof::report
