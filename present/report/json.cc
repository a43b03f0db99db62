// The JSON envelope, the same for every command that writes tables (docs/reference/commands/report.md has it in words):
//   {"damaged", "tool", "version", "schema", "source": {...}, "trust": [...], "tables": [...], "findings": [...], "verdict": {...}}
// `schema` is the version of this shape: members may be added within one, never renamed or removed. `findings` and
// `verdict` are present in reports that include them, `damaged` when bytes of the input could not be read; `row_count`
// counts rows before --limit.
#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "present/report/report.h"

namespace gpuprof::inline report {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::size_t kMaxLineDepth = 4;  // each row of a table is on its own line

// Text, or null if unknown.
void member_or_null(JsonWriter& json, std::string_view name, std::string_view value) {
    json.key(name);
    value.empty() ? json.null() : json.text(value);
}

void write_source(JsonWriter& json, std::string_view name, const Origin& origin, Interval window, TimeNs zero) {
    json.key(name);
    if (origin.file.empty()) return json.null();  // an answer that is about no recording
    json.begin_object();
    json.member("file", plain_files(origin.file));
    json.member("importer", origin.importer);
    member_or_null(json, "tool", origin.tool);
    json.member("window_ns", window.length());
    json.member("time_origin_ns", zero);
    json.end_object();
}

void write_trust(JsonWriter& json, const Trust& trust) {
    json.key("trust");
    json.begin_array();
    for (const Trust::Statement& statement : trust.statements) {
        json.begin_object();
        json.key("warning");
        json.boolean(statement.warning);
        json.member("text", statement.text);
        if (!statement.code.empty()) json.member("code", statement.code);
        json.end_object();
    }
    json.end_array();
}

void write_strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& strings) {
    json.key(name);
    json.begin_array();
    for (const std::string& string : strings) json.text(string);
    json.end_array();
}

void write_columns(JsonWriter& json, std::span<const ResultColumn> columns) {
    json.key("columns");
    json.begin_array();
    for (const ResultColumn& column : columns) {
        json.begin_object();
        json.member("name", column.name);
        json.member("type", name_of(column.type));
        member_or_null(json, "unit", name_of(column.unit));
        json.member("doc", column.doc);
        json.end_object();
    }
    json.end_array();
}

void write_cell(JsonWriter& json, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return json.integer(*integer);
    if (const auto* real = std::get_if<double>(&cell)) return json.real(*real);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return json.text(*text);
    if (const auto* boolean = std::get_if<bool>(&cell)) return json.boolean(*boolean);
    json.null();
}

void write_rows(JsonWriter& json, const ResultTable& table, std::size_t rows, const Sink& sink) {
    json.key("rows");
    json.begin_array();
    for (std::size_t row = 0; row < rows && !sink.failed(); ++row) {
        json.begin_array();
        for (std::size_t column = 0; column < table.columns().size(); ++column)
            write_cell(json, table.cell(row, column));
        json.end_array();
    }
    json.end_array();
}

void write_table(JsonWriter& json, const ResultTable& table, std::int64_t limit, const Sink& sink) {
    json.begin_object();
    json.member("name", table.name());
    member_or_null(json, "handle_prefix", table.handle_prefix);
    write_columns(json, table.columns());
    json.member("row_count", static_cast<std::int64_t>(table.total_rows()));
    write_rows(json, table, shown_rows(table, limit), sink);
    write_strings(json, "notes", table.notes);
    json.end_object();
}

// The tables of the first answer come before those asked for by name.
void write_tables(JsonWriter& json, const Report& report, std::int64_t limit, const Sink& sink) {
    json.key("tables");
    json.begin_array();
    if (report.first_answer && report.answer != nullptr)
        for (const ResultTable& table : report.answer->tables) write_table(json, table, limit, sink);
    for (const ResultTable& table : report.tables) write_table(json, table, limit, sink);
    json.end_array();
}

void write_predicted(JsonWriter& json, const PredictedGain& predicted) {
    json.begin_object();
    json.member("change", predicted.change);
    json.member("step_before_ns", predicted.step_before);
    json.member("step_ns", predicted.step);
    json.member("step_low_ns", predicted.step_low);
    json.member("step_high_ns", predicted.step_high);
    json.key("gain_pct");
    json.real(predicted.gain_pct);
    json.key("gain_low_pct");
    json.real(predicted.gain_low_pct);
    json.key("gain_high_pct");
    json.real(predicted.gain_high_pct);
    json.member("confidence", predicted.certainty);
    json.member("assumes", predicted.assumes);
    json.member("effort", name_of(predicted.effort));
    json.end_object();
}

void write_finding(JsonWriter& json, const Finding& finding) {
    json.begin_object();
    json.member("id", finding.id);
    json.member("severity", name_of(finding.severity));
    json.member("cost_ns", finding.cost_ns);
    json.key("share_pct");
    json.real(finding.share_pct);
    json.key("predicted");
    finding.predicted ? write_predicted(json, *finding.predicted) : json.null();
    json.member("title", finding.title);
    write_strings(json, "evidence", finding.evidence);
    json.member("remedy", finding.remedy);
    json.member("effort", name_of(finding.effort));
    json.member("confidence", name_of(finding.confidence));
    json.member("would_change_if", finding.would_change_if);
    json.member("basis", name_of(finding.basis));
    json.end_object();
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
    json.key("verdict");
    json.begin_object();
    json.member("name", verdict.name);
    json.member("title", title_of(verdict));
    if (!verdict.metric.empty()) json.member("metric", verdict.metric);
    json.member("share_of", name_of(verdict.share_of));
    json.key("share_pct");
    verdict.share_pct ? json.real(*verdict.share_pct) : json.null();
    json.key("gives_back_pct");
    verdict.gives_back_pct ? json.real(*verdict.gives_back_pct) : json.null();
    json.member("because", verdict.because);
    json.key("confidence");
    verdict.confidence ? json.text(name_of(*verdict.confidence)) : json.null();
    json.key("basis");
    verdict.basis ? json.text(name_of(*verdict.basis)) : json.null();
    json.key("alternatives");
    json.begin_array();
    for (const Candidate& candidate : verdict.alternatives) {
        json.begin_object();
        json.member("name", candidate.name);
        json.key("share_pct");
        json.real(candidate.share_pct);
        json.key("gives_back_pct");
        candidate.gives_back_pct ? json.real(*candidate.gives_back_pct) : json.null();
        json.member("because", candidate.because);
        json.end_object();
    }
    json.end_array();
    json.member("whole_ns", verdict.whole);
    json.member("recorder_ns", verdict.recorder);
    json.key("parts");
    json.begin_array();
    for (const VerdictPart& part : verdict.parts) {
        json.begin_object();
        json.member("name", name_of(part.limit));
        json.member("text", spoken_of(part.limit));
        json.member("time_ns", part.time);
        json.key("share_pct");
        json.real(part.share_pct);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void write_answer(JsonWriter& json, const Answer& answer) {
    json.key("findings");
    json.begin_array();
    for (const Finding& finding : answer.findings) write_finding(json, finding);
    json.end_array();
    write_verdict(json, answer.verdict);
    json.key("predictions");
    json.begin_array();
    for (const PredictedGain& predicted : answer.predictions) write_predicted(json, predicted);
    json.end_array();
    write_strings(json, "next_steps", answer.next_steps);
}

}  // namespace

void write_tables_json(std::span<const ResultTable> tables, Sink& sink) {
    JsonWriter json(sink, kMaxLineDepth);
    json.begin_object();
    json.key("tables");
    json.begin_array();
    for (const ResultTable& table : tables) write_table(json, table, 0, sink);
    json.end_array();
    json.end_object();
}

void write_json(const Report& report, const Style& style, Sink& sink) {
    JsonWriter json(sink, kMaxLineDepth);
    json.begin_object();
    std::string damage;
    for (const Trust::Statement& statement : report.trust.statements)
        if (statement.damage) damage += (damage.empty() ? "" : "; ") + statement.text;
    if (!damage.empty()) json.member("damaged", damage);
    json.member("tool", "gpu-profile");
    json.member("version", report.version);
    json.member("schema", kSchema);
    write_source(json, "source", report.origin, report.window, report.zero);
    if (report.base != nullptr) write_source(json, "base", *report.base, report.base_window, report.base_zero);
    write_trust(json, report.trust);
    if (!report.lead.empty()) write_strings(json, "lead", {report.lead.begin(), report.lead.end()});
    write_tables(json, report, style.limit, sink);
    if (report.answer != nullptr) write_answer(json, *report.answer);
    json.end_object();
}

}  // namespace gpuprof::report
