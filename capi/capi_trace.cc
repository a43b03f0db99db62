// The C interface to recordings: tables and analyses as Arrow streams, SQL. Exported arrays keep the recording alive.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/gpuprof.h"
#include "capi/guard.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/shell_words.h"
#include "core/model/select_interval.h"
#include "io/importers/open_trace.h"
#include "present/query/arrow.h"
#include "present/query/collect.h"
#include "present/query/sql.h"

namespace {

using namespace gpuprof;
using capi::guarded;

struct Recording {
    Recording(Trace opened, TimeNs start) : trace(std::move(opened)), time_origin(start), catalogue(trace, Options{}) {}

    Trace trace;
    TimeNs time_origin;  // zero of the times of the trace, on the clock of the recording
    Catalogue catalogue;
    std::unique_ptr<Sql> sql;
    std::mutex lock;  // protects sql and texts
    std::shared_ptr<const Texts> texts;
};

std::string_view type_name(FrameType type) {
    if (type == FrameType::text) return "text";
    if (type == FrameType::boolean) return "boolean";
    return type == FrameType::f64 ? "real" : "integer";
}

void write_columns(JsonWriter& json, const Frame& shape) {
    json.key("columns");
    json.begin_array();
    for (const FrameColumn& column : shape.columns) {
        json.begin_object();
        json.member("name", column.name);
        json.member("type", type_name(column.type));
        json.key("unit");
        column.unit == Unit::none ? json.null() : json.text(name_of(column.unit));
        json.member("doc", column.doc);
        json.end_object();
    }
    json.end_array();
}

std::string describe(const Recording& recording) {
    StringSink sink;
    JsonWriter json(sink);
    const Origin& origin = recording.trace.origin();
    json.begin_object();
    json.member("file", plain_files(origin.file));
    json.member("importer", origin.importer);
    json.member("tool", origin.tool);
    json.member("window_ns", recording.trace.window().length());
    json.member("time_origin_ns", recording.time_origin);
    json.key("tables");
    json.begin_array();
    for (const Relation& relation : recording.catalogue.relations()) {
        json.begin_object();
        json.member("name", relation.name);
        json.member("doc", relation.doc);
        json.key("analysis");
        relation.analysis == nullptr ? json.null() : json.text(relation.analysis->name);
        json.key("aliases");
        json.text(relation.analysis == nullptr ? "" : relation.analysis->aliases);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return sink.text();
}

std::string describe(const Frame& frame) {
    StringSink sink;
    JsonWriter json(sink);
    json.begin_object();
    json.member("rows", static_cast<std::int64_t>(frame.rows));
    write_columns(json, frame);
    json.end_object();
    return sink.text();
}

// The texts of a recording, created once for all its tables.
Result<std::shared_ptr<const Texts>> texts_of_tables(Recording& recording) {
    std::scoped_lock lock(recording.lock);
    if (recording.texts) return recording.texts;
    Result<std::shared_ptr<const Texts>> made = texts_of(recording.trace.strings());
    if (made.ok()) recording.texts = *made;
    return made;
}

}  // namespace

// An opened table, with the owners of its columns.
struct gpuprof_table {
    Frame frame;
    std::shared_ptr<const void> owner;
    std::shared_ptr<const Texts> texts;
    std::string json;
};

struct gpuprof_trace {
    std::shared_ptr<Recording> recording;
    std::string json;
};

namespace {

Status make_table(const Frame& frame, Result<std::shared_ptr<const Texts>> texts, std::shared_ptr<const void> owner,
                  gpuprof_table** table) {
    if (!texts.ok()) return texts.error();
    *table = new gpuprof_table{frame, std::move(owner), *texts, describe(frame)};
    return {};
}

}  // namespace

extern "C" {

int gpuprof_trace_open(const char* const* paths, size_t count, gpuprof_trace** trace) {
    return guarded([&]() -> Status {
        if (paths == nullptr || count == 0 || std::count(paths, paths + count, nullptr) > 0 || trace == nullptr)
            return Error{ExitCode::usage, "paths and trace must not be NULL or empty"};
        *trace = nullptr;
        Result<Trace> opened = open_trace(std::vector<std::string>(paths, paths + count));
        if (!opened.ok()) return opened.error();
        TimeNs origin = opened->zero();
        auto recording = std::make_shared<Recording>(rebase_to_start(std::move(opened).value()), origin);
        Result<std::unique_ptr<Sql>> sql = Sql::open(recording->catalogue);
        if (!sql.ok()) return sql.error();
        recording->sql = std::move(*sql);
        auto made = std::make_unique<gpuprof_trace>();
        made->json = describe(*recording);
        made->recording = std::move(recording);
        *trace = made.release();
        return {};
    });
}

void gpuprof_trace_free(gpuprof_trace* trace) {
    guarded([&]() -> Status {
        delete trace;
        return {};
    });
}

const char* gpuprof_trace_json(const gpuprof_trace* trace) { return trace == nullptr ? nullptr : trace->json.c_str(); }

int gpuprof_trace_table(gpuprof_trace* trace, const char* name, gpuprof_table** table) {
    return guarded([&]() -> Status {
        if (trace == nullptr || name == nullptr || table == nullptr)
            return Error{ExitCode::usage, "trace, name and table must not be NULL"};
        Recording& recording = *trace->recording;
        Relation* relation = recording.catalogue.find(name);
        if (relation == nullptr) return Error{ExitCode::usage, fmt::format("unknown table '{}'", name)};
        Result<const Frame*> frame = recording.catalogue.values(*relation);
        if (!frame.ok()) return frame.error();
        bool own = relation->analysis == nullptr;
        return make_table(**frame, own ? texts_of_tables(recording) : texts_of(*(*frame)->strings), trace->recording,
                          table);
    });
}

int gpuprof_trace_sql(gpuprof_trace* trace, const char* sql, uint64_t max_rows, double time_out_s,
                      gpuprof_table** table) {
    return guarded([&]() -> Status {
        if (trace == nullptr || sql == nullptr || table == nullptr)
            return Error{ExitCode::usage, "trace, sql and table must not be NULL"};
        if (!(time_out_s >= 0 && time_out_s <= 1e6))
            return Error{ExitCode::usage, "time_out_s must be 0 to 1e6 seconds"};
        Recording& recording = *trace->recording;
        std::scoped_lock lock(recording.lock);
        recording.sql->resume();
        recording.sql->limit_time(std::chrono::nanoseconds(static_cast<std::int64_t>(time_out_s * 1e9)));
        std::string_view rest = sql;
        Result<std::optional<SqlRows>> rows = recording.sql->prepare(rest);
        if (!rows.ok()) return rows.error();
        if (!*rows) return Error{ExitCode::usage, "no SQL statement given"};
        Result<std::unique_ptr<OwnedFrame>> answer = collect(**rows, max_rows == 0 ? SIZE_MAX : max_rows);
        if (!answer.ok()) return answer.error();
        Result<std::optional<SqlRows>> second = recording.sql->prepare(rest);
        if (!second.ok()) return second.error();
        if (*second) return Error{ExitCode::usage, "only one SQL statement is allowed"};
        std::shared_ptr<const OwnedFrame> frame = std::move(*answer);
        return make_table(frame->frame(), texts_of(*frame->frame().strings), frame, table);
    });
}

void gpuprof_trace_interrupt(gpuprof_trace* trace) {
    if (trace != nullptr) trace->recording->sql->interrupt();
}

const char* gpuprof_table_json(const gpuprof_table* table) { return table == nullptr ? nullptr : table->json.c_str(); }

int gpuprof_table_stream(gpuprof_table* table, struct ArrowArrayStream* out) {
    return guarded([&]() -> Status {
        if (table == nullptr || out == nullptr) return Error{ExitCode::usage, "table and stream must not be NULL"};
        export_stream(table->frame, table->texts, table->owner, out);
        return {};
    });
}

void gpuprof_table_free(gpuprof_table* table) {
    guarded([&]() -> Status {
        delete table;
        return {};
    });
}

}  // extern "C"
