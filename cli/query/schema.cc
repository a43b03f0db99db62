#include "cli/query/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/choice.h"
#include "core/query/functions.h"
#include "core/query/sql_checks.h"
#include "core/report/lines.h"
#include "core/report/paint.h"

namespace gpuprof {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        std::size_t begin = text.find_first_not_of(" \t\r\n;");
        if (begin == std::string_view::npos) return words;
        text.remove_prefix(begin);
        std::size_t end = std::min(text.find_first_of(" \t\r\n;"), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

// A line of two parts, the second one wrapped in its own column.
void write_entry(std::string_view name, std::string_view doc, int indent, int width, Sink& sink) {
    std::vector<std::string> lines = wrap(doc, std::max(width - indent, 30));
    std::string first = pad_right(name, indent - 2) + "  ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        sink.write((i == 0 ? first : std::string(static_cast<std::size_t>(indent), ' ')) + lines[i] + "\n");
}

constexpr int kNameCells = 22;

std::string_view type_of(FrameType type) {
    return type == FrameType::text ? "TEXT" : type == FrameType::f64 ? "REAL" : "INTEGER";
}

void write_relation(const Relation& relation, const Style& style, Sink& sink) {
    std::string_view kind = relation.analysis == nullptr ? "table" : "analysis";
    std::string rows = relation.analysis == nullptr ? fmt::format(", rows: {}", relation.shape.rows) : "";
    sink.write(fmt::format("{} ({}{})\n", Paint(style.colour).bold(relation.name), kind, rows));
    write_entry("", relation.doc, 2, style.width, sink);
    for (const FrameColumn& column : relation.shape.columns) {
        std::string name = fmt::format("  {} {}{}{}", pad_right(column.name, kNameCells), type_of(column.type),
                                       column.unit == Unit::none ? "" : " in ", name_of(column.unit));
        write_entry(name, column.doc, kNameCells + 22, style.width, sink);
    }
    const SqlCheck* check = relation.analysis == nullptr ? nullptr : sql_check(relation.analysis->name);
    if (check != nullptr && !check->sql.empty())
        write_entry("", fmt::format("Checked by: {}", check->sql), 2, style.width, sink);
    if (check != nullptr && !check->of.empty())
        write_entry("", fmt::format("against: {}", check->of), 2, style.width, sink);
    if (check != nullptr && !check->why.empty()) write_entry("", check->why, 2, style.width, sink);
    sink.write("\n");
}

Status show_schema(const Catalogue& catalogue, std::span<const std::string_view> names, const Style& style,
                   Sink& sink) {
    std::vector<std::string_view> known;
    for (const Relation& relation : catalogue.relations()) known.push_back(relation.name);
    for (std::string_view name : names)
        if (std::find(known.begin(), known.end(), name) == known.end())
            return Error{ExitCode::usage, fmt::format("unknown table '{}'{}", name, did_you_mean(name, known))};
    for (const Relation& relation : catalogue.relations())
        if (names.empty() || std::find(names.begin(), names.end(), relation.name) != names.end())
            write_relation(relation, style, sink);
    return {};
}

void show_tables(const Catalogue& catalogue, const Style& style, Sink& sink) {
    for (const Relation& relation : catalogue.relations()) {
        std::string rows = relation.analysis != nullptr ? "analysis" : std::to_string(relation.shape.rows);
        write_entry(pad_right(relation.name, kNameCells) + pad_left(rows, 11), relation.doc, kNameCells + 13,
                    style.width, sink);
    }
}

void show_functions(const Style& style, Sink& sink) {
    for (const SqlFunction& function : sql_functions())
        write_entry(function.synopsis, function.doc, kNameCells + 11, style.width, sink);
}

void show_help(const Style& style, Sink& sink) {
    write_entry(".tables", "List tables with their row counts, and analyses.", kNameCells, style.width, sink);
    write_entry(".schema [TABLE]", "Describe columns: type, unit, meaning.", kNameCells, style.width, sink);
    write_entry(".functions", "List functions in addition to SQLite's.", kNameCells, style.width, sink);
    write_entry(".quit", "Leave the shell.", kNameCells, style.width, sink);
}

}  // namespace

bool is_dot_command(std::string_view text) {
    std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && text[begin] == '.';
}

Status run_dot_command(Catalogue& catalogue, std::string_view text, const Style& style, Sink& sink) {
    std::vector<std::string_view> words = words_of(text);
    std::span<const std::string_view> arguments(words.begin() + 1, words.end());
    if (words[0] == ".schema") return show_schema(catalogue, arguments, style, sink);
    if (words[0] == ".tables") return show_tables(catalogue, style, sink), Status();
    if (words[0] == ".functions") return show_functions(style, sink), Status();
    if (words[0] == ".help") return show_help(style, sink), Status();
    return Error{ExitCode::usage, fmt::format("unknown command '{}'; .help lists the commands", words[0])};
}

}  // namespace gpuprof
