// The first answer as text: what limits the run, what it costs and what to do first; then where the time went, a picture,
// and further findings; what was recorded comes last. It fits a terminal of 80 x 24 for one device; what does not fit is
// counted and the command that shows it is named. All shares are of one thing. `verbose` shows everything.
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
