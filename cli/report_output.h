// Writes a report to the requested output.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "present/report/report.h"

namespace gpuprof::inline cli {

enum class Paging { on, off };

// Writes to the file `output` ("-" is standard output), at most `limit` rows of each table (0: all). If the format
// cannot show that rows are missing, standard error says so. On a terminal, an answer for people that is longer than
// the screen goes through a pager, unless `paging` is off.
Status write_report(const ReportFormat& format, const Report& report, const std::string& output, std::int64_t limit,
                    Paging paging = Paging::on);

}  // namespace gpuprof::cli
