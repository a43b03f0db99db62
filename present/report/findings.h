// Findings as text: in brief for the first answer, in full for `report FILE findings`.
#pragma once

#include <string>
#include <vector>

#include "present/report/report.h"

namespace gpuprof::inline report {

// The title with cost and share, then at most `lines` lines each of its facts and of what to do.
std::vector<std::string> finding_in_brief(const Finding& finding, std::size_t lines, const Style& style);
// The title with its cost, and one line of what to do.
std::vector<std::string> finding_in_lines(const Finding& finding, const Style& style);
// Everything a finding says.
std::vector<std::string> finding_in_full(const Finding& finding, const Style& style);
// Every finding in full, in the order of the answer, and what could not be judged.
void write_findings(const Answer& answer, const Style& style, Sink& sink);

}  // namespace gpuprof::report
