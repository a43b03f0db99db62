#include "cli/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core/base/clock.h"

namespace gpuprof {
namespace {

TEST(ProgressLine, SaysWhatAndHowFar) {
    EXPECT_EQ(progress_line(true, 25, 100, 3 * kSecond), "reading, 25 % (3 s)");
    EXPECT_EQ(progress_line(true, 120, 100, 3 * kSecond), "reading, 100 % (3 s)");  // a file that grows
    EXPECT_EQ(progress_line(true, 0, 0, 2 * kSecond), "reading (2 s)");             // a pipe
    EXPECT_EQ(progress_line(false, 100, 100, 12 * kSecond), "analysing (12 s)");
}

// Standard error of the tests is no terminal.
TEST(ProgressLine, OfACommandIsANoteWithoutATerminal) {
    testing::internal::CaptureStderr();
    {
        std::atomic<int> asked = 0;
        Progress progress(
            [&asked](DurNs) {
                ++asked;
                return std::string("3 of 8 files");
            },
            {.note = std::chrono::milliseconds(20)});
        Progress within;  // shows nothing
        // When it asks for a third line, two are printed.
        for (TimeNs end = monotonic_ns() + 60 * kSecond; asked < 3 && monotonic_ns() < end;)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("gpu-profile: 3 of 8 files\n"), 0U) << said;
    EXPECT_EQ(said.find_first_of(".\r"), std::string::npos) << said;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_GE(std::count(said.begin(), said.end(), '\n'), 2);
}

}  // namespace
}  // namespace gpuprof
