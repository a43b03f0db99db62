#include "present/report/text_lines.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

TEST(Lines, printable_disarms_what_commands_a_terminal) {
    EXPECT_EQ(printable("a\nb\tc"), "a b c");
    EXPECT_EQ(printable("\x1b[2J"), "\xEF\xBF\xBD[2J");
    EXPECT_EQ(printable("x\xff"), "x\xEF\xBF\xBD");
    EXPECT_EQ(printable("\xE2\x80\xAE"
                        "evil"),
              "\xEF\xBF\xBD"
              "evil")
        << "right-to-left override";
    EXPECT_EQ(printable("λ"), "λ");
}

TEST(Lines, width_counts_cells) {
    EXPECT_EQ(display_width("abc"), 3);
    EXPECT_EQ(display_width("λ…"), 2);
    EXPECT_EQ(display_width("画像"), 4);
    EXPECT_EQ(display_width("e\xCC\x81"), 1) << "a combining accent";
}

TEST(Lines, middle_is_cut_to_the_width) {
    EXPECT_EQ(shorten_middle("abcdefghij", 10, true), "abcdefghij");
    EXPECT_EQ(shorten_middle("abcdefghij", 6, true), "abc…ij");
    EXPECT_EQ(shorten_middle("abcdefghij", 6, false), "ab...j");
    for (int width = 1; width < 12; ++width)
        EXPECT_LE(display_width(shorten_middle("画像処理カーネル名", width, true)), width);
}

TEST(Lines, cpp_names_lose_first_what_tells_least) {
    std::string name = "void at::native::(anonymous namespace)::copy_kernel<std::array<char, 2> >(int, float*)";
    EXPECT_EQ(shorten_name(name, 200, true), name);
    EXPECT_EQ(shorten_name(name, 70, true), "at::native::(anonymous namespace)::copy_kernel<std::array<char, 2> >");
    EXPECT_EQ(shorten_name(name, 40, true), "copy_kernel<array<char, 2> >");
    EXPECT_EQ(shorten_name("ampere_sgemm_128x64_tn", 12, true), "ampere_…4_tn");
}

TEST(Lines, wrap_breaks_at_spaces_and_long_words) {
    EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrap("abcdefgh", 3), (std::vector<std::string>{"abc", "def", "gh"}));
    EXPECT_TRUE(wrap("", 10).empty());
}

TEST(Picture, a_little_is_never_nothing_and_never_all) {
    EXPECT_EQ(busy_bars(std::vector<double>{0, 0.001, 0.5, 0.999, 1}, 5, true), " ▁▄▇█");
    EXPECT_EQ(busy_bars(std::vector<double>{0, 0.001, 0.999, 1}, 4, false), " .=#");
}

TEST(Picture, slices_are_merged_by_their_mean) {
    EXPECT_EQ(busy_bars(std::vector<double>{1, 1, 0, 0}, 2, true), "█ ");
    EXPECT_EQ(busy_bars(std::vector<double>{1, 0, 1, 0}, 2, true), busy_bars(std::vector<double>{0.5}, 2, true));
    EXPECT_EQ(busy_bars(std::vector<double>{1, 0}, 4, true), "██  ");
}

TEST(Picture, bars_have_eighths) {
    EXPECT_EQ(share_bar(1, 3, true), "███");
    EXPECT_EQ(share_bar(0.5, 3, true), "█▌");
    EXPECT_EQ(share_bar(0.0001, 3, true), "▏");
    EXPECT_EQ(share_bar(0, 3, true), "");
}

}  // namespace
}  // namespace gpuprof
