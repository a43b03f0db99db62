// The CSV exporter: every table of a trace that has rows, one after the other in one file. A table starts with the line
// "# NAME", then the column names, then one line per row; an empty line ends it. Columns without any value are omitted.
// Fields are as in RFC 4180 with line feeds; an absent value is an empty field, an empty text is "". Times and
// durations are integer nanoseconds. Text is UTF-8 and harmless (core/base/text/csv.h); text that starts with "#" is quoted.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/text/csv.h"
#include "core/base/text/json_writer.h"
#include "io/exporters/exporter.h"

namespace gpuprof::inline exporters {
namespace {

void append_text(std::string& line, std::string_view text) {
    text.empty() ? void(line += "\"\"") : append_csv_text(line, text);
}

template <class T>
void append_value(std::string& line, const Trace& trace, const Column<T>& column, Row row) {
    if (!column.has(row)) return;
    if constexpr (std::is_same_v<T, StringId>)
        append_text(line, trace.text(column[row]));
    else if constexpr (std::is_same_v<T, double>)
        append_real(line, column[row]);
    else
        line += fmt::format_int(column[row]).c_str();
}

template <class Table>
void write_table(const Trace& trace, const TableSpec& spec, const Table& table, Sink& sink) {
    std::string line = fmt::format("# {}\n", spec.name);
    bool first = true;
    auto separate = [&] {
        if (!first) line += ',';
        first = false;
    };
    table.each_column([&](const ColumnSpec& column_spec, const auto& column) {
        if (column.none_present()) return;
        separate();
        line += column_spec.name;
    });
    sink.write(line + "\n");
    for (Row row = 0; row < table.rows && !sink.failed(); ++row) {
        line.clear();
        first = true;
        table.each_column([&](const ColumnSpec&, const auto& column) {
            if (column.none_present()) return;
            separate();
            append_value(line, trace, column, row);
        });
        sink.write(line += '\n');
    }
    sink.write("\n");
}

}  // namespace

Status export_csv(const Trace& trace, Sink& sink) {
    trace.tables().each_table([&](const TableSpec& spec, const auto& table) {
        if (table.rows > 0) write_table(trace, spec, table, sink);
    });
    return {};
}

}  // namespace gpuprof::exporters
