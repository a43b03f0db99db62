#include "cli/report_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/terminal.h"

namespace gpuprof::inline cli {

Status write_report(const ReportFormat& format, const Report& report, const std::string& output, std::int64_t limit,
                    Paging paging) {
    if (paging == Paging::on && output == "-" && isatty(STDOUT_FILENO) == 1 && !format.one_table) {
        Style style = style_for(output);
        style.limit = limit;
        StringSink text;
        format.write(report, style, text);
        return print_paged(text.text());
    }
    Result<Output> sink = Output::open(output);
    if (!sink.ok()) return sink.error();
    if (format.one_table)
        for (const Trust::Statement& statement : report.trust.statements)
            if (statement.damage) note(fmt::format("{}: {}", report.origin.file, statement.text));
    Style style = style_for(output);
    style.limit = limit;
    format.write(report, style, *sink);
    if (Status closed = sink->close(); !closed.ok()) return closed.error();
    if (!format.one_table) return {};
    for (const ResultTable& table : report.tables)
        if (std::size_t shown = shown_rows(table, limit); shown < table.total_rows())
            note(fmt::format("wrote {} of {} rows of {}; --limit 0 writes all", shown, table.total_rows(),
                             table.name()));
    return {};
}

}  // namespace gpuprof::cli
