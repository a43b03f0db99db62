// CSV and JSON: exact, valid whatever the names hold, and nothing lost.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/report/example.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"name", CellType::text, Unit::none, "A name."},
    {"big_ns", CellType::integer, Unit::ns, "A time."},
    {"ratio", CellType::real, Unit::none, "A ratio."},
    {"flag", CellType::boolean, Unit::none, "A flag."},
};

std::vector<ResultTable> one_table() {
    std::vector<ResultTable> tables;
    ResultTable& table = tables.emplace_back("odd", kColumns);
    table.add_row({"plain", std::numeric_limits<std::int64_t>::max(), 0.1, true});
    table.add_row({"comma, \"quote\"\nline", std::numeric_limits<std::int64_t>::min(), 3.0, false});
    table.add_row({kAbsent, kAbsent, kAbsent, kAbsent});
    table.add_row({"\xff\x01", std::int64_t{0}, std::nan(""), kAbsent});
    return tables;
}

std::string written(std::string_view format, std::int64_t limit) {
    std::vector<ResultTable> tables = one_table();
    Report report{
        .version = "1.2.3", .origin = {"f", "kineto", ""}, .window = {5, 15}, .zero = 5, .trust = {}, .tables = tables};
    StringSink sink;
    find_report_format(format)->write(report, {.limit = limit}, sink);
    return sink.text();
}

TEST(Csv, is_exact_and_quotes_what_must_be) {
    EXPECT_EQ(written("csv", 0),
              "name,big_ns,ratio,flag\n"
              "plain,9223372036854775807,0.1,true\n"
              "\"comma, \"\"quote\"\"\nline\",-9223372036854775808,3.0,false\n"
              ",,,\n"
              "\xEF\xBF\xBD\xEF\xBF\xBD,0,,\n");
}

TEST(Csv, honours_the_limit) {
    EXPECT_EQ(written("csv", 1), "name,big_ns,ratio,flag\nplain,9223372036854775807,0.1,true\n");
}

TEST(Json, rows_keep_types_and_order) {
    std::string text = written("json", 0);
    for (std::string_view row : {R"(["plain", 9223372036854775807, 0.1, true])",
                                 R"(["comma, \"quote\"\nline", -9223372036854775808, 3.0, false])",
                                 R"([null, null, null, null])", "[\"\xEF\xBF\xBD\\u0001\", 0, null, null]"})
        EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
    EXPECT_NE(text.find(R"({"name": "big_ns", "type": "integer", "unit": "ns", "doc": "A time."})"), std::string::npos);
}

TEST(Json, counts_rows_before_the_limit) {
    std::string text = written("json", 1);
    EXPECT_NE(text.find("\"row_count\": 4"), std::string::npos);
    EXPECT_EQ(text.find("comma"), std::string::npos);
}

TEST(Json, names_the_source) {
    std::string text = written("json", 0);
    EXPECT_NE(text.find("\"window_ns\": 10"), std::string::npos);
    EXPECT_NE(text.find("\"time_origin_ns\": 5"), std::string::npos);
    EXPECT_NE(text.find("\"tool\": null"), std::string::npos) << "an unknown recorder is null, not empty";
    EXPECT_EQ(text.find("verdict"), std::string::npos) << "no verdict was asked for";
    EXPECT_EQ(text.back(), '\n');
    EXPECT_NE(text[text.size() - 2], '\n');
}

TEST(Json, first_answer_has_verdict_and_findings) {
    Answer answer = example::answer();
    StringSink sink;
    write_json(example::report_of(answer), {}, sink);
    for (std::string_view part :
         {"\"verdict\": {", "\"name\": \"input-bound\"", "\"share_pct\": 66.3", "\"alternatives\": [",
          "\"findings\": [", "\"severity\": \"high\"", "\"next_steps\": ["})
        EXPECT_NE(sink.text().find(part), std::string::npos) << part;
}

TEST(Markdown, escapes_what_would_break_a_table) {
    std::string text = written("md", 0);
    EXPECT_NE(text.find("| plain | 9,223,372,037 s | 0.10 | yes |"), std::string::npos) << text;
    EXPECT_NE(text.find("| – | – | – | – |"), std::string::npos) << text;
}

}  // namespace
}  // namespace gpuprof
