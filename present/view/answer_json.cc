#include "present/view/answer_json.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <vector>

#include "analyze/facts/steps/phases.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/replay/gain.h"
#include "core/base/parallel.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/readable.h"
#include "core/format/payload.h"
#include "core/model/select_interval.h"
#include "present/answer/analyses.h"
#include "present/answer/make_answer.h"
#include "present/answer/trust.h"
#include "present/report/report.h"

namespace gpuprof::inline view {
namespace {

// The values of one column, in the form in which its type is encoded.
struct Values {
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::int32_t> booleans;
    std::vector<StringId> texts;
    std::vector<std::uint64_t> validity;

    Values(CellType type, std::size_t rows) : validity((rows + 63) / 64) {
        if (type == CellType::integer) integers.resize(rows);
        if (type == CellType::real) reals.resize(rows);
        if (type == CellType::boolean) booleans.resize(rows);
        if (type == CellType::text) texts.resize(rows, kNoString);
    }

    void set(std::size_t row, const Cell& cell, StringPool& strings) {
        if (std::holds_alternative<std::monostate>(cell)) return;
        validity[row / 64] |= std::uint64_t{1} << (row % 64);
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) integers[row] = *integer;
        if (const auto* real = std::get_if<double>(&cell)) reals[row] = *real;
        if (const auto* boolean = std::get_if<bool>(&cell)) booleans[row] = *boolean ? 1 : 0;
        if (const auto* text = std::get_if<std::string_view>(&cell)) texts[row] = strings.intern(*text);
    }

    ColumnView view(const ResultColumn& column) const {
        switch (column.type) {
            case CellType::integer: return {column.name, ColumnType::I64, "", integers.data(), validity.data()};
            case CellType::real: return {column.name, ColumnType::F64, "", reals.data(), validity.data()};
            case CellType::boolean: return {column.name, ColumnType::I32, "", booleans.data(), validity.data()};
            case CellType::text: return {column.name, ColumnType::Str, "", texts.data(), validity.data()};
        }
        return {};
    }
};

}  // namespace

std::vector<LongTable> long_tables(std::span<const ResultTable> tables, std::size_t limit) {
    std::vector<LongTable> found;
    for (const ResultTable& table : tables)
        if (!table.whole && table.total_rows() > limit) found.push_back({table.name(), table.total_rows()});
    return found;
}

LongTableRows::LongTableRows(const Trace& trace, Options options, std::optional<Interval> part)
    : trace_(trace), options_(std::move(options)), part_(part) {
    options_.limit = 0;
}

std::string LongTableRows::payload(const LongTable& wanted, std::size_t first, std::size_t count, EncodingGoal goal) {
    std::shared_ptr<const ResultTable> rows = table(wanted.name);
    if (rows == nullptr || first + count > rows->rows()) return {};
    StringPool strings;
    std::vector<Values> values;
    std::vector<ColumnView> views;
    values.reserve(rows->columns().size());
    for (std::size_t column = 0; column < rows->columns().size(); ++column) {
        Values& own = values.emplace_back(rows->columns()[column].type, count);
        for (std::size_t row = 0; row < count; ++row) own.set(row, rows->cell(first + row, column), strings);
        views.push_back(own.view(rows->columns()[column]));
    }
    PayloadEncoder encoder(goal);
    encoder.encode({wanted.name, count, views}, strings, 0, count);
    return encoder.payload(nullptr);
}

std::shared_ptr<const ResultTable> LongTableRows::table(std::string_view name) {
    std::lock_guard lock(mutex_);
    if (latest_ != nullptr && latest_->name() == name) return latest_;
    const Analysis* analysis = find_analysis(name);
    if (analysis == nullptr) return nullptr;
    if (facts_ == nullptr) {
        if (part_) trace_of_part_ = select_interval(copy_of(trace_), *part_);
        facts_ = std::make_unique<Facts>(part_ ? *trace_of_part_ : trace_, options_);
    }
    latest_.reset();  // before the next one needs the memory
    Result<ResultTable> table =
        analysis->traits.of_whole ? analysis->run(Facts(trace_, options_)) : analysis->run(*facts_);
    if (!table.ok()) return nullptr;
    return latest_ = std::make_shared<const ResultTable>(std::move(table).value());
}

namespace {

std::string busy_shares_json(const std::vector<BusyProfile>& busy_profiles) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.member("slices", busy_profiles.empty() ? 0 : static_cast<std::int64_t>(busy_profiles.front().busy.size()));
    json.key("devices");
    json.begin_array();
    for (const BusyProfile& picture : busy_profiles) {
        json.begin_object();
        json.member("device", std::int64_t{picture.device});
        json.key("busy");
        json.begin_array();
        for (double share : picture.busy) json.real(share);
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return sink.text();
}

std::vector<std::string> sentences(const Answer& answer) {
    std::vector<std::string> lines{fmt::format("{}: {}", title_of(answer.verdict), answer.verdict.because)};
    for (const Finding& finding : answer.findings) lines.push_back(finding.title);
    return lines;
}

// Those of a long recording at once: what two of them need is computed once.
std::vector<std::optional<Result<ResultTable>>> all_tables(const Facts& facts, const Facts& whole) {
    std::vector<const Analysis*> all(analyses().begin(), analyses().end());
    std::vector<std::optional<Result<ResultTable>>> tables(all.size());
    std::vector<std::function<void()>> runs;
    for (std::size_t i = 0; i < all.size(); ++i)
        runs.push_back([&, i] {
            if (!all[i]->traits.replays || !facts.get<Replayed>().too_large) {
                tables[i].emplace(all[i]->run(all[i]->traits.of_whole ? whole : facts));
                return;
            }
            ResultTable skipped(all[i]->name, all[i]->columns);
            skipped.notes.push_back(
                fmt::format("Not computed here for more than {} device ops: gpu-profile report FILE {} computes it.",
                            readable_count(kMaxReplayed), all[i]->name));
            tables[i].emplace(std::move(skipped));
        });
    run_together(facts.trace().kernel().rows + facts.trace().op().rows + facts.trace().api_call().rows, runs);
    return tables;
}

// `whole`: of the recording, of which `facts` may be about a part.
Result<AnswerJson> answer_of(const Facts& facts, const Facts& whole, std::string_view version, TimeNs origin,
                             StepDetail detail, const std::function<void(std::vector<std::string>)>& on_known) {
    Result<Answer> answer = make_answer(facts);  // an error for recordings without events
    if (answer.ok()) on_known(sentences(*answer));
    std::vector<ResultTable> tables;
    for (std::optional<Result<ResultTable>>& made : all_tables(facts, whole)) {
        Result<ResultTable>& table = *made;
        if (!table.ok() && answer.ok()) return table.error();
        if (!table.ok()) continue;                                 // `summary` and `findings` need the first answer
        table->whole = table->whole || table->name() == "limits";  // each row is the head of a page
        tables.push_back(std::move(table).value());
    }
    Report report{.version = version,
                  .origin = facts.trace().origin(),
                  .window = facts.trace().window(),
                  .zero = origin,
                  .trust = answer.ok() ? answer->trust : trust_of(facts, true),
                  .answer = answer.ok() ? &*answer : nullptr,
                  .tables = tables};
    StringSink sink;
    write_json(report, {.limit = kReportRows}, sink);
    return AnswerJson{sink.text(),
                      busy_shares_json(answer.ok() ? answer->busy_profiles : std::vector<BusyProfile>{}),
                      kernel_pages(tables),
                      facts.get<Replayed>().too_large ? ViewPath() : view_path(facts),
                      job_pages(facts, detail),
                      long_tables(tables, kReportRows)};
}

}  // namespace

Result<AnswerJson> answer_json(const Facts& facts, std::string_view version, TimeNs origin, StepDetail detail,
                               const std::function<void(std::vector<std::string>)>& on_known) {
    std::optional<Interval> part = interval_for_first_answer(facts);
    if (!part) return answer_of(facts, facts, version, origin, detail, on_known);
    Trace trace = select_interval(copy_of(facts.trace()), *part);
    Facts of_part(trace, facts.options());
    of_part.put(facts.get<Phases>());
    Result<AnswerJson> answer = answer_of(of_part, facts, version, origin, detail, on_known);
    if (answer.ok()) answer->part = Interval{trace.window().start - trace.zero(), trace.window().end - trace.zero()};
    return answer;
}

}  // namespace gpuprof::view
