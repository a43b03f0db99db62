// Text for people: a head with the input and what the numbers are based on, the first answer if requested, then each
// table under its name. Warnings are always shown; quiet statements of trust only with the first answer.
#include <fmt/format.h>

#include <utility>

#include "core/base/text/readable.h"
#include "present/report/findings.h"
#include "present/report/first_answer.h"
#include "present/report/paint.h"
#include "present/report/report.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"
#include "present/report/value.h"

namespace gpuprof::inline report {
namespace {

std::string windows_of(const Report& report) {
    std::string window = readable_duration(report.window.length()) + " window";
    if (report.base != nullptr) return fmt::format("{} and {}", readable_duration(report.base_window.length()), window);
    if (report.whole == 0) return window;
    return fmt::format("{} of {} (--whole: everything)", window, readable_duration(report.whole));
}

// The first line is the answer, the others say why.
void write_lead(const Report& report, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    for (std::size_t i = 0; i < report.lead.size(); ++i)
        for (const std::string& line : wrap(printable(report.lead[i]), style.width - (i == 0 ? 0 : 2)))
            sink.write(i == 0 ? fmt::format("\n{}\n", paint.bold(line)) : fmt::format("  {}\n", line));
}

void write_head(const Report& report, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    for (const std::string& line : damage_lines(report, style)) sink.write(line + "\n");
    std::string_view dot = style.unicode ? " · " : " - ";
    std::string head = paint.bold(printable(report.origin.file));
    if (report.base != nullptr)
        head = fmt::format("{}{}{}", paint.bold(printable(report.base->file)), style.unicode ? " → " : " -> ", head);
    if (!report.origin.tool.empty()) head += fmt::format("{}{}", dot, printable(report.origin.tool));
    if (report.window.length() > 0 || report.base != nullptr)
        head += fmt::format("{}{}", dot, windows_of(report));
    else if (!report.origin.tool.empty())
        head += fmt::format("{}no timeline", dot);
    sink.write(head + "\n");
    for (const Trust::Statement& statement : report.trust.statements) {
        if (!statement.warning || statement.damage) continue;
        std::string mark = paint.warning("!") + " ";
        for (const std::string& line : wrap(printable(statement.text), style.width - 2))
            sink.write(std::exchange(mark, "  ") + line + "\n");
    }
}

void write_titled_text(const ResultTable& table, const Style& style, Sink& sink) {
    Paint paint(style.colour);
    sink.write(fmt::format("\n{}\n", paint.bold(table.name())));
    write_text_table(table, style, sink);
}

}  // namespace

void write_text(const Report& report, const Style& style, Sink& sink) {
    if (report.first_answer && report.answer != nullptr)
        write_first_answer(report, style, sink);
    else
        write_head(report, style, sink);
    write_lead(report, style, sink);
    if (report.all_findings && report.answer != nullptr) write_findings(*report.answer, style, sink);
    for (const ResultTable& table : report.tables)
        shown_as_prose(report, table) ? write_notes(table, style, sink) : write_titled_text(table, style, sink);
}

}  // namespace gpuprof::report
