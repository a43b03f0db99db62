#include "core/base/text/close_match.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

constexpr std::string_view kWords[] = {"devices", "kernels", "memcpy", "memory", "gaps", "idle"};

TEST(Suggest, finds_typing_errors_and_parts) {
    EXPECT_EQ(close_matches("kernel", kWords), (std::vector<std::string_view>{"kernels"}));
    EXPECT_EQ(close_matches("gasp", kWords), (std::vector<std::string_view>{}));
    EXPECT_EQ(close_matches("gap", kWords), (std::vector<std::string_view>{"gaps"}));
    EXPECT_EQ(close_matches("mem", kWords), (std::vector<std::string_view>{"memcpy", "memory"}));
    EXPECT_EQ(close_matches("devcies", kWords), (std::vector<std::string_view>{"devices"}));
}

TEST(Suggest, is_silent_when_nothing_is_close) {
    EXPECT_EQ(did_you_mean("occupancy", kWords), "");
    EXPECT_EQ(did_you_mean("", kWords), "");
    EXPECT_EQ(did_you_mean(std::string(100000, 'k'), kWords), "");
    EXPECT_EQ(did_you_mean("idel", std::span(kWords).subspan(4)), "");
    EXPECT_EQ(did_you_mean("idles", kWords), "; did you mean 'idle'?");
}

}  // namespace
}  // namespace gpuprof
