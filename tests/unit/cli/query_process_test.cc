// The process of a query is killed when it is late, whatever it is doing.
#include "cli/view/query_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace gpuprof {
namespace {

TEST(QueryProcess, EndsACallThatNeverEnds) {
    Result<std::unique_ptr<QueryProcess>> process =
        QueryProcess::start([](const std::string& sql) -> Result<std::string> {
            while (sql == "endless") pause();
            return "answer to " + sql;
        });
    ASSERT_TRUE(process.ok());
    constexpr std::chrono::seconds kLong{60}, kShort{0};
    EXPECT_EQ((*process)->ask("one", kLong).value(), "answer to one");
    EXPECT_FALSE((*process)->ended());
    Result<std::string> late = (*process)->ask("endless", kShort);
    ASSERT_FALSE(late.ok());
    EXPECT_NE(late.error().message.find("time limit"), std::string::npos) << late.error().message;
    EXPECT_TRUE((*process)->ended());
}

}  // namespace
}  // namespace gpuprof
