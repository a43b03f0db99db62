// CSV (RFC 4180): the header is exactly the column names, integers are exact, reals the shortest text that reads back
// equal, an absent value is an empty field, and text is UTF-8 and harmless in spreadsheets and terminals
// (core/base/text/csv.h). Lines end with a line feed, as every Unix tool expects.
#include <cmath>

#include "core/base/text/csv.h"
#include "core/base/text/json_writer.h"
#include "present/report/report.h"

namespace gpuprof::inline report {
namespace {

void append_cell(std::string& line, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) line += std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real))
        append_real(line, *real);
    if (const auto* text = std::get_if<std::string_view>(&cell)) append_csv_text(line, *text);
    if (const auto* boolean = std::get_if<bool>(&cell)) line += *boolean ? "true" : "false";
}

void write_table(const ResultTable& table, std::int64_t limit, Sink& sink) {
    std::string line;
    for (const ResultColumn& column : table.columns()) {
        if (!line.empty()) line += ',';
        append_csv_text(line, column.name);
    }
    sink.write(line + '\n');
    std::size_t rows = shown_rows(table, limit);
    for (std::size_t row = 0; row < rows && !sink.failed(); ++row) {
        line.clear();
        for (std::size_t column = 0; column < table.columns().size(); ++column) {
            if (column != 0) line += ',';
            append_cell(line, table.cell(row, column));
        }
        sink.write(line + '\n');
    }
}

}  // namespace

void write_csv(const Report& report, const Style& style, Sink& sink) {
    for (const ResultTable& table : report.tables) write_table(table, style.limit, sink);
}

}  // namespace gpuprof::report
