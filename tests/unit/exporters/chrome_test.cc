// The Chrome exporter where recordings do not go: unknown keys and ids, names that are no UTF-8, arguments that are no JSON.
#include "core/model/build/trace_builder.h"
#include "io/exporters/chrome/json_check.h"
#include "io/exporters/exporter.h"
#include "tests/unit/exporters/same_tables.h"

namespace gpuprof::test {
namespace {

std::string chrome(Batch batch) {
    TraceBuilder builder(Origin{"f", "test", "a tool"});
    builder.append(std::move(batch));
    StringSink sink;
    EXPECT_TRUE(export_chrome(std::move(builder).finish(), sink).ok());
    return sink.text();
}

TEST(ChromeExport, AnEmptyTraceIsValidJson) {
    std::string text = chrome({});
    EXPECT_TRUE(is_json(text)) << text;
    EXPECT_NE(text.find("\"traceEvents\": []"), std::string::npos);
}

TEST(ChromeExport, HostileTextStaysValidJson) {
    Batch batch;
    OpTable& op = batch.tables.op;
    for (std::string_view dims : {"[[1, 2], NaN]", "[1, 2", "{\"a\": [1]}", "\xff\xfe", "", "[\"\x01\"]"}) {
        Row row = op.add();
        op.start.set(row, 1000 + row);
        op.dur.set(row, 1);
        op.name.set(row, batch.intern("quote \" line \n byte \xff"));
        op.input_dims.set(row, batch.intern(dims));
    }
    std::string text = chrome(std::move(batch));
    EXPECT_TRUE(is_json(text)) << text;
    EXPECT_NE(text.find("\"Input Dims\": {\"a\": [1]}"), std::string::npos);       // JSON stays JSON
    EXPECT_NE(text.find("\"Input Dims\": \"[[1, 2], NaN]\""), std::string::npos);  // the rest becomes text
}

// Two processes with the same pid (two containers) and a thread without an id stay apart.
TEST(ChromeExport, IdsThatCollideAreMadeUp) {
    Batch batch;
    for (std::string_view key : {"host a/1", "host b/1"}) {
        ProcessTable& process = batch.tables.process;
        Row row = process.add();
        process.key.set(row, batch.intern(key));
        process.pid.set(row, 1);
        process.name.set(row, batch.intern(key));
    }
    std::string text = chrome(std::move(batch));
    EXPECT_NE(text.find("\"pid\": 1,"), std::string::npos);
    EXPECT_NE(text.find("\"pid\": 4294967297,"), std::string::npos);
}

TEST(ChromeExport, TimesAreExactAndNegativeOnesToo) {
    Batch batch;
    OverheadTable& overhead = batch.tables.overhead;
    for (TimeNs start : {TimeNs{-5'000'000'001}, TimeNs{1'700'000'123'456'789}}) {
        Row row = overhead.add();
        overhead.start.set(row, start);
        overhead.dur.set(row, 1'234'567);
    }
    std::string text = chrome(std::move(batch));
    EXPECT_NE(text.find("\"baseTimeNanoseconds\": -6000000000"), std::string::npos) << text;
    EXPECT_NE(text.find("\"ts\": 999999.999, \"dur\": 1234.567"), std::string::npos) << text;
    EXPECT_NE(text.find("\"ts\": 1700006123456.789"), std::string::npos) << text;
}

TEST(JsonCheck, TakesJsonAndNothingElse) {
    for (std::string_view good :
         {"0", "-0.5e+10", "[]", "{}", " [1, \"a\\u00e9\\n\", {\"k\": null}] ", "\"\xc3\xa9\"", "true", "1E5"})
        EXPECT_TRUE(is_json(good)) << good;
    for (std::string_view bad : {"",       "01",       "1.",  ".5",      "+1",          "[1,]",   "[1 2]",
                                 "{1: 2}", "{\"a\"}",  "\"",  "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "nul",
                                 "1 2",    "\"\xff\"", "NaN", "-",       "1e",          "[",      "{\"a\": }"})
        EXPECT_FALSE(is_json(bad)) << bad;
    EXPECT_TRUE(is_json(std::string(60, '[') + std::string(60, ']')));
    EXPECT_FALSE(is_json(std::string(100'000, '[')));
}

}  // namespace
}  // namespace gpuprof::test
