#include "cli/query/completion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/query/small_trace.h"

namespace gpuprof {
namespace {

class CompleteSql : public testing::Test {
protected:
    std::vector<std::string> words(std::string_view text) const { return complete_sql(catalogue_, text).words; }
    bool offers(std::string_view text, std::string_view word) const {
        std::vector<std::string> found = words(text);
        return std::find(found.begin(), found.end(), word) != found.end();
    }
    Trace trace_ = small_trace(4);
    Catalogue catalogue_{trace_, Options{}};
};

TEST_F(CompleteSql, TablesAfterFromAndJoin) {
    EXPECT_EQ(words("SELECT * FROM kernels"), (std::vector<std::string>{"kernels"}));
    EXPECT_EQ(words("select * from kernel k join API_"), (std::vector<std::string>{"api_call", "api_trace"}));
    EXPECT_FALSE(offers("SELECT * FROM ", "SELECT"));
}

TEST_F(CompleteSql, ColumnsOfTheTablesOfTheStatement) {
    EXPECT_TRUE(offers("SELECT cause FROM gaps WHERE ", "host_what"));
    EXPECT_FALSE(offers("SELECT cause FROM gaps WHERE ", "registers"));
    EXPECT_TRUE(offers("SELECT reg", "registers"));  // no table yet: all of them
    EXPECT_EQ(words("SELECT gaps.cau"), (std::vector<std::string>{"cause"}));
    EXPECT_TRUE(words("SELECT nothing.cau").empty());
}

TEST_F(CompleteSql, FunctionsAndKeywords) {
    EXPECT_TRUE(offers("SELECT per", "percentile"));
    EXPECT_TRUE(offers("SELECT name FROM kernel gro", "GROUP"));
}

TEST_F(CompleteSql, DotCommands) {
    EXPECT_EQ(words(".sch"), (std::vector<std::string>{"schema"}));
    EXPECT_EQ(words(".mode j"), (std::vector<std::string>{"json"}));
    EXPECT_EQ(words("  .timer o"), (std::vector<std::string>{"off", "on"}));
    EXPECT_EQ(words(".schema gap"), (std::vector<std::string>{"gaps"}));
    EXPECT_TRUE(words(".quit x").empty());
}

TEST_F(CompleteSql, SaysWhereTheWordBegins) {
    EXPECT_EQ(complete_sql(catalogue_, "SELECT gaps.cau").begin, 12U);
    EXPECT_EQ(complete_sql(catalogue_, "").begin, 0U);
    EXPECT_EQ(complete_sql(catalogue_, "SELECT \xc3\xa9").begin, 9U);
}

}  // namespace
}  // namespace gpuprof
