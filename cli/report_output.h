// Writes a report to where the user wants it.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/report/report.h"

namespace gpuprof {

// To the file `output`, "-" is standard output, with at most `limit` rows of each table (0: all). Where the format has no place for saying
// that rows are missing, standard error has it.
Status write_report(const ReportFormat& format, const Report& report, const std::string& output, std::int64_t limit);

}  // namespace gpuprof
