#include "cli/progress.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

constexpr DurNs kSecond = 1'000'000'000;

TEST(ProgressLine, SaysWhatAndHowFar) {
    EXPECT_EQ(progress_line(true, 25, 100, 3 * kSecond), "reading, 25 % (3 s)");
    EXPECT_EQ(progress_line(true, 120, 100, 3 * kSecond), "reading, 100 % (3 s)");  // a file that grows
    EXPECT_EQ(progress_line(true, 0, 0, 2 * kSecond), "reading (2 s)");             // a pipe
    EXPECT_EQ(progress_line(false, 100, 100, 12 * kSecond), "analysing (12 s)");
}

}  // namespace
}  // namespace gpuprof
