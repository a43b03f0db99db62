// Broken Kineto files: whole events are imported, the rest is counted with its place, and nothing crashes, hangs or grows.
#include "tests/unit/importers/read_text.h"

namespace gpuprof::test {
namespace {

std::string op(std::string_view name) { return event("cpu_op", name); }

// The names of the operators, in order of their rows.
std::string op_names(const Trace& trace) {
    std::string names;
    for (Row row = 0; row < trace.op().rows; ++row)
        names += (row > 0 ? " " : "") + std::string(trace.text(trace.op().name[row]));
    return names;
}

TEST(KinetoBroken, NumbersThatAreNone) {
    Trace trace = import_text(object_trace(op("a") + "," + event("cpu_op", "b", "", "NaN") + "," +
                                           event("cpu_op", "c", "", "1", "Infinity") + "," +
                                           event("cpu_op", "d", R"("External id": NaN)") + "," + op("e")));
    EXPECT_EQ(op_names(trace), "a d e");
    EXPECT_EQ(losses(trace, "bad_number"), 3);
    EXPECT_EQ(losses(trace, "missing_field"), 2);
    EXPECT_FALSE(trace.op().external_id.has(1));
    EXPECT_EQ(loss_place(trace, "bad_number"), "t: byte " + std::to_string(18 + op("a").size()));
}

TEST(KinetoBroken, TimesOutOfRange) {
    Trace trace = import_text(object_trace(op("a") + "," + event("cpu_op", "b", "", "9223372036854775.807") + "," +
                                               event("cpu_op", "c", "", "1", "1e300") + "," +
                                               event("cpu_op", "d", "", "-9223372036854775.808") + "," +
                                               event("cpu_op", "e", "", "1", "-3"),
                                           R"("baseTimeNanoseconds": 9223372036854775807)"));
    EXPECT_EQ(op_names(trace), "a e");
    EXPECT_EQ(losses(trace, "time_out_of_range"), 3);
    EXPECT_EQ(losses(trace, "negative_duration"), 1);
    EXPECT_EQ(losses(trace, "bad_number"), 1);  // the time base
    EXPECT_EQ(trace.op().dur[1], 0);
}

TEST(KinetoBroken, MissingFields) {
    Trace trace =
        import_text(object_trace(op("a") + R"(,{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 7, "tid": 8, "ts": 1},
        {"ph": "X", "cat": "cpu_op", "pid": 7, "tid": 8, "ts": 1, "dur": 1}, {"cat": "cpu_op", "name": "c"}, {})"));
    EXPECT_EQ(op_names(trace), "a");
    EXPECT_EQ(losses(trace, "missing_field"), 3);  // an empty object is no event
}

TEST(KinetoBroken, Strings) {
    Trace trace =
        import_text(object_trace(op("a\\q") + "," + op("line\nbreak") + "," + op("\\ud800") + "," + op("\xFF\xC0")));
    EXPECT_EQ(op_names(trace), "a\\q line\nbreak \\ud800 \xFF\xC0");
    EXPECT_EQ(losses(trace, "bad_string"), 3);
}

// Kineto escapes nothing, so record_function('say "hi"') gives such a file.
TEST(KinetoBroken, UnescapedQuotes) {
    Trace trace = import_text(object_trace(op("a") + "," + op("say \"hi\" now") + "," +
                                           event("cpu_op", "b", R"("Concrete Inputs": ["x "y" z"])")));
    EXPECT_EQ(op_names(trace), "a say \"hi\" now b");
    EXPECT_EQ(losses(trace, "bad_string"), 1);
    EXPECT_EQ(trace.tables().loss.rows, 1u);
    Trace lost = import_text(object_trace(op("a") + "," + op("say \", hi") + "," + op("b")));
    EXPECT_EQ(op_names(lost), "a b");
    EXPECT_EQ(losses(lost, "malformed_event"), 1);
    EXPECT_EQ(loss_place(lost, "malformed_event"), "t: byte " + std::to_string(18 + op("a").size()));
    EXPECT_EQ(lost.tables().loss.rows, 1u);
}

TEST(KinetoBroken, ReadingGoesOnAfterEachKindOfDamage) {
    for (std::string_view damage : {R"({"ph": "X", "cat": "cpu_op", "name": "x, "pid": 7})",  // quote missing
                                    R"({"ph": "X", "args": {"a": 1, "name": "x"})",           // brace missing
                                    R"({"ph": "X", "args": {"grid": [1, 2}}})",               // bracket missing
                                    R"({"ph": "X" "cat": "cpu_op"})",                         // comma missing
                                    R"({"ph" "X"})",                                          // colon missing
                                    R"({"ph": })",                                            // value missing
                                    R"("ph": "X"})",                                          // brace missing in front
                                    R"(}}]])", R"(17)", R"([1, 2])", R"(null)", R"("text")", R"({{}})", R"(: : :)"}) {
        Trace trace = import_text(object_trace(op("a") + "," + std::string(damage) + "," + op("b")));
        EXPECT_EQ(op_names(trace), "a b") << damage;
        EXPECT_GE(losses(trace, "malformed_event"), 1) << damage;
    }
}

TEST(KinetoBroken, HeaderAfterDamageIsFound) {
    std::string text =
        "{\"traceEvents\": [" + op("a") + ", {\"ph\": \"X\", 5}\n  ],\n  \"baseTimeNanoseconds\": 1000000}";
    Trace trace = import_text(text);
    EXPECT_EQ(trace.op().start[0], 1001000);
    EXPECT_EQ(losses(trace, "malformed_event"), 1);
}

TEST(KinetoBroken, MissingSeparatorsBetweenEvents) {
    Trace trace = import_text(object_trace(op("a") + "\n" + op("b") + ",,\n" + op("c") + ","));
    EXPECT_EQ(op_names(trace), "a b c");
}

TEST(KinetoBroken, CutAnywhere) {
    std::string whole = object_trace(op("a") + ",\n  " + op("b") + ",\n  " + op("c"), R"("schemaVersion": 1)");
    std::size_t head = whole.find('[') + 1;
    for (std::size_t n = head; n < whole.size(); ++n) {
        Trace trace = import_text(std::string_view(whole).substr(0, n));
        EXPECT_LE(trace.op().rows, 3u) << n;
        EXPECT_TRUE(std::string("a b c").starts_with(op_names(trace))) << n;
        EXPECT_EQ(losses(trace, "truncated"), 1) << n;
        EXPECT_EQ(trace.tables().loss.rows, 1u) << n << "\n" << dump(trace);
    }
    EXPECT_EQ(import_text(whole).tables().loss.rows, 0u);
}

TEST(KinetoBroken, CutGzip) {
    std::string text = fixture("kineto/overlap.json.gz");
    std::string packed = gzip(text);
    Trace whole = import_text(packed);
    EXPECT_EQ(whole.kernel().rows, 100u);
    Trace half = import_text(packed.substr(0, packed.size() / 2));
    EXPECT_EQ(losses(half, "bad_compression"), 1);
    EXPECT_EQ(losses(half, "truncated"), 1);
    EXPECT_GT(half.kernel().rows, 10u);
    EXPECT_LT(half.kernel().rows, 100u);
    EXPECT_EQ(import_error(packed.substr(0, 15)).code, ExitCode::unreadable);
}

TEST(KinetoBroken, GarbageAfterTheEnd) {
    for (std::string_view tail : {"garbage", "}", "]", "\"", "{", "[1,2", "\x01\x02"}) {
        Trace trace = import_text(object_trace(op("a")) + "\n" + std::string(tail));
        EXPECT_EQ(op_names(trace), "a");
        bool only_control = tail == "\x01\x02";  // counts as space
        EXPECT_EQ(losses(trace, "malformed_event"), only_control ? 0 : 1) << tail;
    }
    EXPECT_EQ(import_text(object_trace(op("a")) + std::string(1000, '\0')).tables().loss.rows, 0u);
}

TEST(KinetoBroken, LongNames) {
    std::string name(10'000'000, 'n');
    Trace trace = import_text(object_trace(op("a") + "," + op(name) + "," + op("b")));
    ASSERT_EQ(trace.op().rows, 3u);
    EXPECT_EQ(trace.text(trace.op().name[1]).size(), name.size());
    EXPECT_EQ(trace.tables().loss.rows, 0u);
}

TEST(KinetoBroken, AnItemTooLongForMemoryIsGivenUp) {
    std::string name(70'000'000, 'n');
    Trace trace = import_text(object_trace(op("a") + "," + op(name) + "," + op("b")));
    EXPECT_TRUE(op_names(trace) == "a b");
    EXPECT_EQ(losses(trace, "malformed_event"), 1);
}

TEST(KinetoBroken, DeepNesting) {
    std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    objects += "1" + std::string(100'000, '}');
    std::string events = event("cpu_op", "a", "\"x\": " + deep) + "," +
                         event("cpu_op", "b", "\"Input Dims\": " + objects) + "," + op("c");
    Trace trace = import_text("{\"traceEvents\": [" + events + "], \"more\": " + deep + "}");
    EXPECT_EQ(op_names(trace), "a b c");
    EXPECT_EQ(losses(trace, "too_deep"), 3);
    EXPECT_FALSE(trace.op().input_dims.has(1));
    Trace unclosed =
        import_text(object_trace(op("a") + "," + event("cpu_op", "b", "\"x\": " + std::string(100'000, '['))));
    EXPECT_EQ(op_names(unclosed), "a");
}

TEST(KinetoBroken, CyclicPythonParents) {
    Trace trace =
        import_text(object_trace(event("python_function", "f", R"("Python id": 1, "Python parent id": 2)") + "," +
                                 event("python_function", "g", R"("Python id": 2, "Python parent id": 1)") + "," +
                                 event("python_function", "h", R"("Python id": 3, "Python parent id": 3)")));
    EXPECT_EQ(trace.tables().python_call.rows, 3u);
}

TEST(KinetoBroken, OddShapes) {
    Trace trace =
        import_text(object_trace(event("kernel", "k", R"("grid": [1, 2, 3, 4], "block": "x")") + "," +
                                 event("kernel", "l", R"("grid": [-1, 1, 1], "block": [])") + "," +
                                 event("kernel", "m", R"("grid": [5], "device": 99999999999, "stream": "seven")")));
    EXPECT_EQ(trace.kernel().rows, 3u);
    EXPECT_EQ(losses(trace, "bad_number"), 6);
    EXPECT_FALSE(trace.kernel().grid_x.has(0));
    EXPECT_EQ(trace.kernel().grid_x[2], 5);
    EXPECT_FALSE(trace.kernel().grid_y.has(2));
}

}  // namespace
}  // namespace gpuprof::test
