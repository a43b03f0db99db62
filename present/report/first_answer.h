// The first answer as text: verdict, a picture of busy and idle time, where the time went, top kernels, top findings,
// what to run next. Made to fit one screen of 80 x 45 for one device; what does not fit is counted and the command that
// shows it is named.
#pragma once

#include <string>
#include <vector>

#include "present/report/report.h"

namespace gpuprof::inline report {

// Formatted lines that precede everything else if bytes of the input could not be read; otherwise empty.
std::vector<std::string> damage_lines(const Report& report, const Style& style);
void write_first_answer(const Report& report, const Style& style, Sink& sink);
// Rows of an answer's table, found by name; null when it has none.
const ResultTable* table_named(const Answer& answer, std::string_view name);

}  // namespace gpuprof::report
