// The one rule for texts in CSV: no formula for a spreadsheet, no command for a terminal, and what it was can be told.
#include "core/base/text/csv.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(Csv, TextsBeginNoFormula) {
    for (const char* text : {"=1+1", "+x", "-x", "-", "@SUM(A1)", "\t=x", "\n=x", "=HYPERLINK(\"http://x\")", "+-1",
                             "-1+1", "\uFF1D1", "\uFF0B1", "\uFF0D1", "\uFF201", "-inf", "-nan"})
        EXPECT_EQ(sanitized_text(text), std::string("'") + text);
    EXPECT_EQ(sanitized_text("\r=x"), "'\uFFFD=x");
    for (const char* text : {"-5", "+5", "-5.25e-3", "+.5", "a=b", " =x", "operator-", "", "1-1", "Größe"})
        EXPECT_EQ(sanitized_text(text), text);
}

TEST(Csv, AnApostropheTakenAwayGivesTheTextBack) {
    EXPECT_EQ(sanitized_text("'x"), "''x");
    EXPECT_EQ(sanitized_text("'=x"), "''=x");
    EXPECT_EQ(sanitized_text("x'"), "x'");
}

TEST(Csv, TextsCommandNoTerminal) {
    EXPECT_EQ(sanitized_text("a\x1b[31m\rb\x07"), "a\uFFFD[31m\uFFFDb\uFFFD");
    EXPECT_EQ(sanitized_text("a\nb\tc"), "a\nb\tc");
    EXPECT_EQ(sanitized_text(std::string_view("a\0b", 3)), "a\uFFFDb");
    EXPECT_EQ(sanitized_text("\xff\xc3"), "\uFFFD\uFFFD");
    EXPECT_EQ(sanitized_text("x\u202Ey\u0085"), "x\uFFFDy\uFFFD");
}

TEST(Csv, FieldsAreQuotedWhereTheyMustBe) {
    auto field = [](std::string_view text) {
        std::string line = "1,";
        append_csv_text(line, text);
        return line;
    };
    EXPECT_EQ(field("a b"), "1,a b");
    EXPECT_EQ(field("a,\"b\"\n"), "1,\"a,\"\"b\"\"\n\"");
    EXPECT_EQ(field("=a,b"), "1,\"'=a,b\"");
    EXPECT_EQ(field("# kernel"), "1,\"# kernel\"");
    EXPECT_EQ(field(""), "1,");
}

}  // namespace
}  // namespace gpuprof
