// Sizes given as text.
#include "core/base/readable.h"

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

TEST(Readable, DeviationsHaveTwoDigitsAndNoExponent) {
    EXPECT_EQ(readable_deviation(217.3), "217");
    EXPECT_EQ(readable_deviation(99.4), "99");
    EXPECT_EQ(readable_deviation(0.0521), "0.052");
    EXPECT_EQ(readable_deviation(0), "0");
}

}  // namespace
}  // namespace gpuprof
