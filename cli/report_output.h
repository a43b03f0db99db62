// A format without a place for it says on standard error that rows are missing.
#pragma once

#include <fmt/format.h>

#include "cli/output.h"
#include "core/report/report.h"

namespace gpuprof {

inline void note_left_off(const ReportFormat& format, std::span<const ResultTable> tables, std::int64_t limit) {
    if (!format.one_table) return;
    for (const ResultTable& table : tables)
        if (std::size_t shown = shown_rows(table, limit); shown < table.total_rows())
            note(fmt::format("{} of {} rows of {} written; --limit 0 writes all", shown, table.total_rows(),
                             table.name()));
}

}  // namespace gpuprof
