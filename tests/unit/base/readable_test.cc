// Sizes and times given as text.
#include "core/base/text/readable.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(Readable, BytesOfText) {
    EXPECT_EQ(bytes_of_text("640"), 640u);
    EXPECT_EQ(bytes_of_text("640 B"), 640u);
    EXPECT_EQ(bytes_of_text("1.5MiB"), 1536u * 1024);
    EXPECT_EQ(bytes_of_text("2 GiB"), std::uint64_t{2} << 30);
    for (const char* text : {"", "x", "MiB", "-1", "0", "nan", "inf", "1MB", "1 MiB x", "2e30", "1  MiB."})
        EXPECT_FALSE(bytes_of_text(text)) << text;
    for (double bytes : {1.0, 640.0, 1024.0, 3.0 * 1024 * 1024})
        EXPECT_EQ(bytes_of_text(readable_bytes(bytes)), static_cast<std::uint64_t>(bytes));
}

TEST(Readable, DurationsOfText) {
    EXPECT_EQ(duration_of_text("464ms", "s"), 464e6);
    EXPECT_EQ(duration_of_text("464 ms", "s"), 464e6);
    EXPECT_EQ(duration_of_text("20us", "s"), 20e3);
    EXPECT_EQ(duration_of_text("300ns", "s"), 300);
    EXPECT_EQ(duration_of_text("1.5", "s"), 1.5e9);
    EXPECT_EQ(duration_of_text("1500", "ns"), 1500);
    EXPECT_EQ(duration_of_text("0", "s"), 0);
    for (const char* text : {"", "ms", "-1", "-1ms", "nan", "inf", "infs", "1min", "1 ms x", "464mz", "1e300s", "1MS"})
        EXPECT_FALSE(duration_of_text(text, "s") && *duration_of_text(text, "s") < 1e300) << text;
}

TEST(Readable, DeviationsHaveTwoDigitsAndNoExponent) {
    EXPECT_EQ(readable_deviation(217.3), "217");
    EXPECT_EQ(readable_deviation(99.4), "99");
    EXPECT_EQ(readable_deviation(0.0521), "0.052");
    EXPECT_EQ(readable_deviation(0), "0");
}

}  // namespace
}  // namespace gpuprof
