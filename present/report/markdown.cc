#include "present/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/readable.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"
#include "present/report/value.h"

namespace gpuprof::inline report {
namespace {

void write_header(const ResultTable& table, Sink& sink) {
    std::string names = table.handle_prefix.empty() ? "|" : "| |";
    std::string rule = table.handle_prefix.empty() ? "|" : "|---|";
    for (const ResultColumn& column : table.columns()) {
        names += fmt::format(" {} |", markdown_escaped(header_of(column)));
        rule += is_number(column) ? "---:|" : "---|";
    }
    sink.write(names + "\n" + rule + "\n");
}

void write_titled_markdown(const ResultTable& table, const Style& style, Sink& sink) {
    sink.write(fmt::format("\n### {}\n\n", markdown_escaped(table.name())));
    write_markdown_table(table, style.limit, sink);
}

void write_trust(const Trust& trust, bool quiet_too, Sink& sink) {
    for (const Trust::Statement& statement : trust.statements) {
        if (statement.damage) continue;
        if (statement.warning)
            sink.write(fmt::format("\n> **Warning:** {}\n", markdown_escaped(statement.text)));
        else if (quiet_too)
            sink.write(fmt::format("\n> {}\n", markdown_escaped(statement.text)));
    }
}

void write_verdict(const Verdict& verdict, Sink& sink) {
    sink.write(fmt::format("\n**{}**", markdown_escaped(verdict.name)));
    if (verdict.share_pct)
        sink.write(fmt::format(", {} % of {}", readable_percent(*verdict.share_pct), name_of(verdict.share_of)));
    if (verdict.share_of == ShareOf::window && verdict.gives_back_pct)
        sink.write(fmt::format(", about {} % recoverable", readable_percent(*verdict.gives_back_pct)));
    if (verdict.confidence && verdict.basis)
        sink.write(fmt::format(" ({} confidence, from {})", name_of(*verdict.confidence), name_of(*verdict.basis)));
    sink.write(fmt::format(": {}\n", markdown_escaped(verdict.because)));
    if (!verdict.alternatives.empty()) sink.write("\nAlso:\n");
    for (const Candidate& candidate : verdict.alternatives)
        sink.write(fmt::format("- {} {} %: {}\n", markdown_escaped(candidate.name),
                               readable_percent(candidate.share_pct), markdown_escaped(candidate.because)));
}

void write_finding(const Finding& finding, Sink& sink) {
    sink.write(fmt::format("\n**{}** ({}, {} %)\n", markdown_escaped(finding.title), readable_duration(finding.cost_ns),
                           readable_percent(finding.share_pct)));
    sink.write(fmt::format("`{}`, severity {}, confidence {}, from {}\n\n", finding.id, name_of(finding.severity),
                           name_of(finding.confidence), name_of(finding.basis)));
    for (const std::string& fact : finding.evidence) sink.write(fmt::format("- {}\n", markdown_escaped(fact)));
    sink.write(fmt::format("- To do: {}\n", markdown_escaped(finding.remedy)));
    if (!finding.would_change_if.empty())
        sink.write(fmt::format("- Would change if: {}\n", markdown_escaped(finding.would_change_if)));
}

constexpr std::int64_t kRowsInAnswer = 5;

void write_answer(const Report& report, Sink& sink) {
    const Answer& answer = *report.answer;
    if (report.first_answer) {
        write_verdict(answer.verdict, sink);
        for (const ResultTable& table : answer.tables) {
            sink.write(fmt::format("\n### {}\n\n", markdown_escaped(table.name())));
            write_markdown_table(table, kRowsInAnswer, sink);
        }
    }
    if (!answer.findings.empty()) sink.write("\n### findings\n");
    for (const Finding& finding : answer.findings) write_finding(finding, sink);
    if (!answer.next_steps.empty()) sink.write("\nNext:\n");
    for (const std::string& step : answer.next_steps) sink.write(fmt::format("- `{}`\n", printable(step)));
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
    // A pipe would end a cell, < begin a tag, [ a link, # a reference, * emphasis. Backticks in pairs are meant as
    // code.
    std::string plain = printable(text), out;
    bool code = std::count(plain.begin(), plain.end(), '`') % 2 == 0;
    std::string_view special = code ? "|\\*<[#" : "|\\*<[#`";
    for (std::size_t i = 0; i < plain.size(); ++i) {
        // An underscore inside a word is one; at its ends it could begin emphasis.
        bool edge = i == 0 || i + 1 == plain.size() || plain[i - 1] == ' ' || plain[i + 1] == ' ';
        if (special.find(plain[i]) != std::string_view::npos || (plain[i] == '_' && edge)) out += '\\';
        out += plain[i];
    }
    return out;
}

void write_markdown_table(const ResultTable& table, std::int64_t limit, Sink& sink) {
    write_header(table, sink);
    std::size_t rows = shown_rows(table, limit);
    for (std::size_t row = 0; row < rows && !sink.failed(); ++row) {
        std::string line = table.handle_prefix.empty() ? "|" : fmt::format("| {} |", handle_of(table, row));
        for (std::size_t i = 0; i < table.columns().size(); ++i)
            line += fmt::format(" {} |", markdown_escaped(format_cell(table.cell(row, i), table.columns()[i], true)));
        sink.write(line + "\n");
    }
    if (std::size_t hidden = table.total_rows() - rows; hidden > 0)
        sink.write(fmt::format("\n… and {} more {} (--limit 0 shows all)\n",
                               readable_count(static_cast<std::int64_t>(hidden)), hidden == 1 ? "row" : "rows"));
    for (const std::string& note : table.notes) sink.write(fmt::format("\n> {}\n", markdown_escaped(note)));
}

void write_markdown(const Report& report, const Style& style, Sink& sink) {
    for (const Trust::Statement& statement : report.trust.statements)
        if (statement.damage) sink.write(fmt::format("> **Warning:** {}\n\n", markdown_escaped(statement.text)));
    sink.write(fmt::format("## {}\n\n", markdown_escaped(report.origin.file)));
    std::string window = readable_duration(report.window.length()) + " window";
    if (report.whole > 0) window += fmt::format(" of {} (--whole: everything)", readable_duration(report.whole));
    sink.write(
        fmt::format("{}{}\n", report.origin.tool.empty() ? "" : markdown_escaped(report.origin.tool) + " · ", window));
    write_trust(report.trust, report.first_answer, sink);
    for (const std::string& line : report.lead) sink.write(fmt::format("\n{}\n", markdown_escaped(line)));
    if (report.answer != nullptr) write_answer(report, sink);
    for (const ResultTable& table : report.tables)
        if (!shown_as_prose(report, table)) write_titled_markdown(table, style, sink);
}

}  // namespace gpuprof::report
