// Parses the Markdown of the documentation into blocks. A subset of CommonMark with tables: headings with #,
// paragraphs, lists, fenced and indented code, tables with |, comments (omitted). Anything else is a paragraph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::inline cli {

struct MarkdownBlock {
    enum class Kind { heading, paragraph, item, code, table };
    Kind kind;
    int level = 0;            // of a heading, 1 to 6; else the columns it is indented in the source
    std::string marker = {};  // of an item: "*", "3."
    std::string text = {};    // inline Markdown on one line; code: as it is, each line with its end
    std::vector<std::vector<std::string>> rows = {};  // of a table, the header first; every row has as many cells
};

std::vector<MarkdownBlock> parse_markdown(std::string_view page);

// Inline Markdown as plain text, without backquotes, asterisks, comments and tags. A link becomes its text, followed by
// the address if it leads to another host. Each bold word is enclosed in kBold and kPlain, so that text can be wrapped.
std::string plain_inline(std::string_view text);
inline constexpr char kBold = '\x01', kPlain = '\x02';

// The names of pages ("compare") that the page links to by relative links, each once, in order.
std::vector<std::string> linked_pages(std::string_view page);

}  // namespace gpuprof::cli
