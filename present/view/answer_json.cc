#include "present/view/answer_json.h"

#include <fmt/format.h>

#include <vector>

#include "analyze/facts/steps/steady_part.h"
#include "analyze/replay/gain.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/readable.h"
#include "core/model/select_interval.h"
#include "present/answer/analyses.h"
#include "present/answer/make_answer.h"
#include "present/answer/trust.h"
#include "present/report/report.h"

namespace gpuprof::inline view {
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

Result<AnswerJson> answer_of(const Facts& facts, std::string_view version, StepDetail detail) {
    Result<Answer> answer = make_answer(facts);  // an error for recordings without events
    std::vector<ResultTable> tables;
    for (const Analysis* analysis : analyses()) {
        if (analysis->traits.replays && facts.get<Replayed>().too_large) {
            ResultTable skipped(analysis->name, analysis->columns);
            skipped.notes.push_back(
                fmt::format("Not computed here for more than {} device ops: gpu-profile report FILE {} computes it.",
                            readable_count(kMaxReplayed), analysis->name));
            tables.push_back(std::move(skipped));
            continue;
        }
        Result<ResultTable> table = analysis->run(facts);
        if (!table.ok() && answer.ok()) return table.error();
        if (!table.ok()) continue;                                  // `summary` and `findings` need the first answer
        table->whole = table->whole || analysis->name == "limits";  // each row is the head of a page
        tables.push_back(std::move(table).value());
    }
    Report report{.version = version,
                  .origin = facts.trace().origin(),
                  .window = facts.trace().window(),
                  .zero = facts.trace().zero(),
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

Result<AnswerJson> answer_json(const Facts& facts, std::string_view version, StepDetail detail) {
    Options options = facts.options();
    options.limit = kReportRows;
    std::optional<Interval> part = interval_for_first_answer(facts);
    if (!part) return answer_of(Facts(facts.trace(), options), version, detail);
    Trace trace = select_interval(copy_of(facts.trace()), *part);
    Result<AnswerJson> answer = answer_of(Facts(trace, options), version, detail);
    if (answer.ok()) answer->part = trace.window();
    return answer;
}

}  // namespace gpuprof::view
