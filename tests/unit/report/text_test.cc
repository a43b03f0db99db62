// Text reports keep to the width they are given, at every width, and leave nothing out silently.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "present/report/findings.h"
#include "present/report/text_lines.h"
#include "present/report/text_table.h"
#include "tests/unit/report/example.h"

namespace gpuprof {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string table_text(const ResultTable& table, const Style& style) {
    StringSink sink;
    write_text_table(table, style, sink);
    return sink.text();
}

std::string answer_text(const Style& style) {
    Answer answer = example::answer();
    StringSink sink;
    write_text(example::report_of(answer), style, sink);
    return sink.text();
}

void expect_width(const std::string& text, int width) {
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
}

TEST(TextTable, keeps_to_every_width) {
    ResultTable table = example::kernels(30);
    for (int width = 60; width <= 240; width += 7) expect_width(table_text(table, {.width = width}), width);
}

TEST(TextTable, names_the_columns_it_leaves_out) {
    std::string narrow = table_text(example::kernels(30), {.width = 70});
    EXPECT_NE(narrow.find("too narrow for: "), std::string::npos);
    EXPECT_NE(narrow.find("std_ns"), std::string::npos) << "a column without values goes first";
    std::string wide = table_text(example::kernels(30), {.width = 240});
    EXPECT_EQ(wide.find("too narrow"), std::string::npos);
}

TEST(TextTable, says_how_many_rows_are_missing) {
    EXPECT_NE(table_text(example::kernels(30), {.limit = 20}).find("… and 10 more rows (--limit 0 shows all)"),
              std::string::npos);
    EXPECT_EQ(table_text(example::kernels(30), {.limit = 0}).find("more rows"), std::string::npos);
    EXPECT_EQ(table_text(example::kernels(20), {.limit = 20}).find("more rows"), std::string::npos);
}

TEST(TextTable, turns_few_wide_rows_on_their_side) {
    std::string text = table_text(example::kernels(1), {.width = 60});
    EXPECT_NE(text.find("shared"), std::string::npos);
    EXPECT_NE(text.find("48.0 KiB"), std::string::npos);
    EXPECT_EQ(text.find("too narrow"), std::string::npos);
}

TEST(TextTable, shows_absence_and_units) {
    std::string text = table_text(example::kernels(2), {.width = 240});
    EXPECT_NE(text.find("1.23 s"), std::string::npos);
    EXPECT_NE(text.find("2,468"), std::string::npos);
    EXPECT_NE(text.find("–"), std::string::npos);
    EXPECT_NE(text.find("k-2"), std::string::npos);
}

TEST(FirstAnswer, fits_one_screen) {
    std::string text = answer_text({.width = 80});
    EXPECT_LE(lines_of(text).size(), 24u);
    expect_width(text, 80);
}

TEST(FirstAnswer, keeps_to_every_width) {
    for (int width = 60; width <= 200; width += 9) expect_width(answer_text({.width = width}), width);
}

TEST(FirstAnswer, is_ascii_without_unicode) {
    for (char c : answer_text({.width = 80, .unicode = false})) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(FirstAnswer, colours_change_nothing_but_colour) {
    std::string coloured = answer_text({.width = 80, .colour = true});
    EXPECT_NE(coloured.find("\x1b["), std::string::npos);
    EXPECT_EQ(std::regex_replace(coloured, std::regex("\x1b\\[[0-9]+m"), ""), answer_text({.width = 80}));
}

TEST(FirstAnswer, counts_the_findings_it_has_no_room_for) {
    std::regex counted("[1-5] more: gpu-profile report trace.json.gz findings");
    EXPECT_TRUE(std::regex_search(answer_text({.width = 80}), counted));
}

TEST(Findings, say_everything_in_full) {
    std::string text;
    for (const std::string& line : finding_in_full(example::finding(0), {.width = 200})) text += line + "\n";
    for (std::string_view part :
         {"gap-1", "60 of 64", "num_workers", "would change if", "input-pipeline", "confidence high", "1.60 s, 66.3 %"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace gpuprof
