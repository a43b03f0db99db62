// Writes a report to the requested output.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/report/report.h"

namespace gpuprof {

// Writes to the file `output` ("-" is standard output), at most `limit` rows of each table (0: all). If the format
// cannot show that rows are missing, standard error says so.
Status write_report(const ReportFormat& format, const Report& report, const std::string& output, std::int64_t limit);

}  // namespace gpuprof
