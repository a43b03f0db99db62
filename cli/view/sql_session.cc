#include "cli/view/sql_session.h"

#include <fmt/format.h>

#include "cli/query/run_query.h"
#include "core/base/caught.h"
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
#include "present/query/sql_functions.h"

namespace gpuprof::inline cli {
namespace {

void write_seconds(JsonWriter& json, std::string_view name, DurNs time) {
    json.key(name);
    json.real(static_cast<double>(time) / 1e9);
}

void write_relation(JsonWriter& json, const Relation& relation) {
    json.begin_object();
    json.member("name", relation.name);
    json.member("doc", relation.doc);
    json.key("rows");
    relation.analysis == nullptr ? json.integer(static_cast<std::int64_t>(relation.shape.rows)) : json.null();
    json.key("columns");
    json.begin_array();
    for (const FrameColumn& column : relation.shape.columns) {
        json.begin_object();
        json.member("name", column.name);
        json.member("unit", name_of(column.unit));
        json.member("doc", column.doc);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void write_limits(JsonWriter& json) {
    json.key("limits");
    json.begin_object();
    json.member("rows", kMaxSqlRows);
    json.member("answer_bytes", static_cast<std::int64_t>(kMaxSqlAnswerBytes));
    json.member("sql_bytes", static_cast<std::int64_t>(kMaxSqlBytes));
    json.member("seconds", static_cast<std::int64_t>(kSqlTimeLimit.count()));
    json.end_object();
}

}  // namespace

SqlSession::~SqlSession() {
    cancel(number_);
    if (thread_.joinable()) thread_.join();
}

Result<std::int64_t> SqlSession::start(std::string sql) {
    if (running_) return Error{ExitCode::usage, "another query is still running; cancel it first"};
    if (thread_.joinable()) thread_.join();
    if (!process_ || process_->ended()) {
        process_.reset();
        Result<std::unique_ptr<QueryProcess>> process =
            QueryProcess::start([this](const std::string& query) { return answer(query); });
        if (!process.ok()) return process.error();
        process_ = std::move(process).value();
    }
    {
        std::lock_guard lock(mutex_);
        answer_.reset();
    }
    ++number_;
    started_ = monotonic_ns();
    cancelled_ = false;
    running_ = true;
    Status begun = caught([&] { thread_ = std::thread([this, sql = std::move(sql)] { run(sql); }); });
    if (!begun) {
        running_ = false;
        return begun.error();
    }
    return number_;
}

void SqlSession::run(const std::string& sql) noexcept {
    Result<std::string> found = out_of_memory();
    if (Status asked = caught([&] { found = process_->ask(sql, kSqlTimeLimit); }); !asked) process_->kill();
    std::lock_guard lock(mutex_);
    answer_.emplace(std::move(found));
    took_ = monotonic_ns() - started_;
    running_ = false;
}

// In the process.
Result<std::string> SqlSession::answer(const std::string& sql) {
    Result<std::unique_ptr<Sql>> connection = Sql::open(catalogue_);
    if (!connection.ok()) return connection.error();
    (*connection)->limit_time(kSqlTimeLimit);
    StringSink sink;
    QueryRun run{.catalogue = catalogue_,
                 .sql = **connection,
                 .sink = sink,
                 .style = {},
                 .limit = kMaxSqlRows,
                 .is_full = [&] { return sink.text().size() >= kMaxSqlAnswerBytes; },
                 .format = find_answer_format("json"),
                 .writer = nullptr};
    run.answers();  // SQL without a statement has an answer without tables
    Result<bool> done = run_statements(run, sql);
    if (!done.ok()) return done.error();
    run.finish();
    return sink.text();
}

void SqlSession::cancel(std::int64_t number) {
    std::lock_guard lock(mutex_);
    if (number != number_ || !running_) return;
    cancelled_ = true;
    process_->kill();
}

std::optional<std::string> SqlSession::state_json(std::int64_t number) const {
    if (number != number_ || number == 0) return std::nullopt;
    std::lock_guard lock(mutex_);
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    if (!answer_) {
        json.member("state", cancelled_ ? "cancelling" : "running");
    } else if (cancelled_ && !answer_->ok()) {
        json.member("state", "cancelled");
    } else if (!answer_->ok()) {
        json.member("state", "failed");
        json.member("problem", answer_->error().message);
    } else {
        json.member("state", "done");
        json.key("answer");
        json.raw(**answer_);
    }
    write_seconds(json, "elapsed_s", answer_ ? took_ : monotonic_ns() - started_);
    json.end_object();
    return sink.text();
}

std::string SqlSession::schema_json() const {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    write_limits(json);
    json.key("tables");
    json.begin_array();
    for (const Relation& relation : catalogue_.relations()) write_relation(json, relation);
    json.end_array();
    json.key("functions");
    json.begin_array();
    for (const SqlFunction& function : sql_functions()) {
        json.begin_object();
        json.member("synopsis", function.synopsis);
        json.member("doc", function.doc);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return sink.text();
}

}  // namespace gpuprof::cli
