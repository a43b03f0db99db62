#include "cli/query/dot_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/choice.h"
#include "present/query/sql_checks.h"
#include "present/query/sql_functions.h"
#include "present/report/paint.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
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

// A line of two parts; the second one is wrapped in its own column.
void write_entry(std::string_view name, std::string_view doc, int indent, int width, Sink& sink) {
    std::vector<std::string> lines = wrap(doc, std::max(width - indent, 30));
    std::string first = pad_right(name, indent - 2) + "  ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        sink.write((i == 0 ? first : std::string(static_cast<std::size_t>(indent), ' ')) + lines[i] + "\n");
}

constexpr int kNameCells = 22;

std::string_view type_of(FrameType type) {
    if (type == FrameType::text) return "TEXT";
    return type == FrameType::f64 ? "REAL" : "INTEGER";
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

Status show_schema(QueryRun& run, std::span<const std::string_view> names) {
    std::vector<std::string_view> known = names_of(run.catalogue.relations());
    for (std::string_view name : names)
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            std::string hint = did_you_mean(name, known);
            return Error{ExitCode::usage,
                         fmt::format("unknown table '{}'{}", name, hint.empty() ? "; .tables lists them" : hint)};
        }
    for (const Relation& relation : run.catalogue.relations())
        if (names.empty() || std::find(names.begin(), names.end(), relation.name) != names.end())
            write_relation(relation, run.style, run.sink);
    return {};
}

Status show_tables(QueryRun& run, std::span<const std::string_view>) {
    for (const Relation& relation : run.catalogue.relations()) {
        std::string rows = relation.analysis != nullptr ? "analysis" : std::to_string(relation.shape.rows);
        write_entry(pad_right(relation.name, kNameCells) + pad_left(rows, 11), relation.doc, kNameCells + 13,
                    run.style.width, run.sink);
    }
    return {};
}

Status show_functions(QueryRun& run, std::span<const std::string_view>) {
    for (const SqlFunction& function : sql_functions())
        write_entry(function.synopsis, function.doc, kNameCells + 11, run.style.width, run.sink);
    return {};
}

Status set_mode(QueryRun& run, std::span<const std::string_view> words) {
    if (words.empty()) {
        run.sink.write(fmt::format("{}\n", run.format->name));
        return {};
    }
    const AnswerFormat* format = find_answer_format(words[0]);
    if (format == nullptr) return unknown_choice("format", words[0], names_of(answer_formats()));
    run.set_format(*format);
    return {};
}

Status set_timer(QueryRun& run, std::span<const std::string_view> words) {
    if (words.empty() || (words[0] != "on" && words[0] != "off"))
        return Error{ExitCode::usage, ".timer expects 'on' or 'off'"};
    run.timer = words[0] == "on";
    return {};
}

Status show_help(QueryRun& run, std::span<const std::string_view>) {
    for (const DotCommand& command : dot_commands())
        write_entry(fmt::format("{} {}", command.name, command.arguments), command.doc, kNameCells, run.style.width,
                    run.sink);
    return {};
}

// The loop of the shell acts on it; a script ends with its last line.
Status quit(QueryRun& run, std::span<const std::string_view>) {
    run.ended = true;
    return {};
}

constexpr DotCommand kCommands[] = {
    {".tables", "", "List tables with their row counts, and analyses.", show_tables},
    {".schema", "[TABLE...]", "Show columns with their types, units and meanings.", show_schema},
    {".functions", "", "List the functions added to those of SQLite.", show_functions},
    {".mode", "[FORMAT]", "Set the output format: text, csv or json.", set_mode},
    {".timer", "on|off", "Print the time that each query takes.", set_timer},
    {".help", "", "List these commands.", show_help},
    {".quit", "", "Leave the shell.", quit},
    {".exit", "", "Leave the shell.", quit},
};

}  // namespace

std::span<const DotCommand> dot_commands() { return kCommands; }

bool is_dot_command(std::string_view text) {
    std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && text[begin] == '.';
}

Status run_dot_command(QueryRun& run, std::string_view text) {
    std::vector<std::string_view> words = words_of(text);
    for (const DotCommand& command : kCommands)
        if (command.name == words[0]) return command.run(run, std::span(words).subspan(1));
    return Error{ExitCode::usage,
                 fmt::format("unknown command '{}'{}", words[0], did_you_mean(words[0], names_of(dot_commands())))};
}

}  // namespace gpuprof::cli
