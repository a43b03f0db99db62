// `help`: pages of the documentation as text, from blocks of Markdown to lines of a terminal.
#include <gtest/gtest.h>

#include <set>

#include "cli/help/help_markdown.h"
#include "cli/help/page_text.h"
#include "cli/help/pages.h"
#include "present/report/text_lines.h"

namespace gpuprof {
namespace {

Style plain(int width) { return {.width = width, .colour = false}; }

TEST(Help, pages_are_split_at_form_feeds) {
    std::vector<HelpPage> pages = split_pages("\fstart/concepts.md\n# Concepts\n\nText\n\fa.md\n# A\n");
    ASSERT_EQ(pages.size(), 2u);
    EXPECT_EQ(pages[0].name, "concepts");
    EXPECT_EQ(pages[0].folder, "start");
    EXPECT_EQ(pages[0].title, "Concepts");
    EXPECT_EQ(pages[0].text, "# Concepts\n\nText\n");
    EXPECT_EQ(pages[1].name, "a");
    EXPECT_EQ(pages[1].folder, "");
    EXPECT_TRUE(split_pages("").empty());
}

TEST(Help, inline_markdown_becomes_text) {
    EXPECT_EQ(plain_inline("`a_*` and *b*, [c](d.md#e)"), "a_* and b, c");
    EXPECT_EQ(plain_inline("[site](https://x.org/y)"), "site (https://x.org/y)");
    EXPECT_EQ(plain_inline("[`list[0]`](d.md)"), "list[0]");
    EXPECT_EQ(plain_inline("a * b, int*, 2*3"), "a * b, int*, 2*3");
    EXPECT_EQ(plain_inline("![shown](x.png) \\* \\|"), "[picture: shown] * |");
    EXPECT_EQ(plain_inline("**two words**"), "\x01two\x02 \x01words\x02");
    EXPECT_EQ(plain_inline("[open `never closed"), "[open `never closed");
}

TEST(Help, paragraphs_are_joined_and_wrapped) {
    EXPECT_EQ(page_text("# Title\n\none two\nthree\n\n<!-- left out -->\nfour\n", plain(16)),
              "Title\n\n    one two\n    three\n\n    four\n");
}

TEST(Help, lists_hang) {
    EXPECT_EQ(page_text("* one\n  two\n* three\n\n1. four\n", plain(40)), "    * one two\n    * three\n    1. four\n");
    EXPECT_EQ(page_text("- one two\n", plain(10)), "    - one\n      two\n");
}

TEST(Help, code_is_taken_as_it_is) {
    EXPECT_EQ(page_text("a\n\n```sh\n$ x   --y  # *no*\n\n  z\n```\n", plain(10)),
              "    a\n\n        $ x   --y  # *no*\n\n          z\n");
    EXPECT_EQ(page_text("a\n\n    x\n      y\n\nb\n", plain(10)), "    a\n\n        x\n          y\n\n    b\n");
}

TEST(Help, tables_have_columns) {
    std::string_view page = "| a | b |\n|---|---|\n| `x\\|y` | long text here |\n";
    EXPECT_EQ(page_text(page, plain(40)), "    a    b\n    ---  --------------\n    x|y  long text here\n");
    EXPECT_EQ(page_text(page, plain(18)), "    a    b\n    ---  ---------\n    x|y  long text\n         here\n");
    EXPECT_EQ(page_text("| | |\n|---|---|\n| a | b |\n", plain(40)), "    a  b\n") << "no header";
}

TEST(Help, colour_is_bold_word_by_word) {
    EXPECT_EQ(page_text("## A b\n\n**c d**\n", {.width = 6, .colour = true}),
              "\x1b[1mA b\x1b[0m\n\n    \x1b[1mc\x1b[0m\n    \x1b[1md\x1b[0m\n");
}

TEST(Help, ascii_where_nothing_else_is_shown) {
    EXPECT_EQ(page_text("a – b → c λ\n", {.width = 40, .unicode = false}), "    a - b > c ?\n");
}

TEST(Help, every_page_is_there_once_and_fits) {
    std::set<std::string_view> names;
    for (const HelpPage& page : help_pages()) {
        EXPECT_TRUE(names.insert(page.name).second) << page.name << " is the name of two pages";
        EXPECT_FALSE(page.title.empty()) << page.name;
        for (int width : {40, 80, 100}) {
            std::string text = page_text(page.text, plain(width));
            EXPECT_EQ(text.find(kBold), std::string::npos) << page.name;
        }
        for (const MarkdownBlock& block : parse_markdown(page.text)) {
            if (block.kind != MarkdownBlock::Kind::code) {
                EXPECT_EQ(plain_inline(block.text).find("]("), std::string::npos) << page.name << ": " << block.text;
            }
            for (const auto& row : block.rows) EXPECT_EQ(row.size(), block.rows.front().size()) << page.name;
        }
    }
    for (std::string_view name : {"report", "verdicts", "troubleshooting", "concepts", "glossary", "pytorch", "nsys"})
        EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Help, prose_fits_the_width) {
    for (const HelpPage& page : help_pages())
        for (const MarkdownBlock& block : parse_markdown(page.text)) {
            if (block.kind != MarkdownBlock::Kind::paragraph) continue;
            std::string text = page_text(block.text, plain(60));
            for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
                EXPECT_LE(display_width(text.substr(at, text.find('\n', at) - at)), 60) << page.name;
        }
}

}  // namespace
}  // namespace gpuprof
