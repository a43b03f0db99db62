#include "present/report/report.h"

#include <algorithm>

namespace gpuprof::inline report {
namespace {

constexpr ReportFormat kFormats[] = {
    {"text", "For people at a terminal: readable units, fitted to the width.", false, write_text},
    {"csv", "One table, comma separated (RFC 4180), machine units, nothing else.", true, write_csv},
    {"json", "The envelope: source, trust, tables, findings and verdict, machine units.", false, write_json},
    {"md", "Markdown tables for issues and chats, readable units.", false, write_markdown},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat* find_report_format(std::string_view name) {
    const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                     [name](const ReportFormat& format) { return format.name == name; });
    return found == std::end(kFormats) ? nullptr : found;
}

bool shown_as_prose(const Report& report, const ResultTable& table) {
    if (report.answer == nullptr) return false;
    return (report.first_answer && table.name() == "summary") || (report.all_findings && table.name() == "findings");
}

std::size_t shown_rows(const ResultTable& table, std::int64_t limit) {
    return limit <= 0 || table.whole ? table.rows() : std::min(table.rows(), static_cast<std::size_t>(limit));
}

}  // namespace gpuprof::report
