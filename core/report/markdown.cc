// GitHub Markdown: each table under a heading, all its columns, readable units, the names in full.
#include <fmt/format.h>

#include "core/base/readable.h"
#include "core/report/report.h"
#include "core/report/text_table.h"
#include "core/report/value.h"

namespace gpuprof {
namespace {

// Text that Markdown takes as it is: a pipe would end the cell, < begin a tag, the others begin emphasis or code.
std::string escaped(std::string_view text) {
    std::string out;
    for (char c : printable(text)) {
        if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[') out += '\\';
        out += c;
    }
    return out;
}

void write_header(const ResultTable& table, Sink& sink) {
    std::string names = table.handle_prefix.empty() ? "|" : "| |";
    std::string rule = table.handle_prefix.empty() ? "|" : "|---|";
    for (const ResultColumn& column : table.columns()) {
        names += fmt::format(" {} |", escaped(header_of(column)));
        rule += is_number(column) ? "---:|" : "---|";
    }
    sink.write(names + "\n" + rule + "\n");
}

void write_table(const ResultTable& table, const Style& style, TimeNs origin, Sink& sink) {
    sink.write(fmt::format("\n### {}\n\n", escaped(table.name())));
    write_header(table, sink);
    std::size_t rows = shown_rows(table, style.limit);
    for (std::size_t row = 0; row < rows && !sink.failed(); ++row) {
        std::string line = table.handle_prefix.empty() ? "|" : fmt::format("| {} |", handle_of(table, row));
        for (std::size_t i = 0; i < table.columns().size(); ++i)
            line += fmt::format(" {} |", escaped(format_cell(table.cell(row, i), table.columns()[i], origin, true)));
        sink.write(line + "\n");
    }
    if (std::size_t hidden = table.rows() - rows; hidden > 0)
        sink.write(fmt::format("\n… and {} more rows (--limit 0 shows all)\n", readable_count(static_cast<std::int64_t>(hidden))));
    for (const std::string& note : table.notes) sink.write(fmt::format("\n> {}\n", escaped(note)));
}

}  // namespace

void write_markdown(const Report& report, const Style& style, Sink& sink) {
    sink.write(fmt::format("## {}\n\n", escaped(report.origin.file)));
    std::string window = readable_duration(static_cast<double>(report.window.length()));
    sink.write(fmt::format("{}{} window\n", report.origin.tool.empty() ? "" : escaped(report.origin.tool) + " · ", window));
    for (const Trust::Statement& statement : report.trust.statements)
        if (statement.warning) sink.write(fmt::format("\n> **Warning:** {}\n", escaped(statement.text)));
    for (const ResultTable& table : report.tables) write_table(table, style, report.window.start, sink);
}

}  // namespace gpuprof
