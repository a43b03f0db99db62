#include "cli/help/page_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/help/help_markdown.h"
#include "core/base/text/utf8.h"
#include "present/report/text_lines.h"

namespace gpuprof::inline cli {
namespace {

constexpr int kIndent = 4;          // of everything but headings
constexpr int kBetween = 2;         // between columns of a table
constexpr int kMinColumnWidth = 8;  // cells; a narrower column cannot be read

std::string blanks(int count) { return std::string(static_cast<std::size_t>(std::max(count, 0)), ' '); }

// Without what says where bold begins and ends.
int cells(std::string_view text) {
    auto marks = std::count(text.begin(), text.end(), kBold) + std::count(text.begin(), text.end(), kPlain);
    return display_width(text) - static_cast<int>(marks);
}

// Removes the front of a word that is too long for a line, up to a character where it may be broken, if any. The word
// loses its bold.
std::string take_front(std::string& word, int width) {
    std::erase_if(word, [](char c) { return c == kBold || c == kPlain; });
    std::string front = cut_end(word, std::max(width, 1));
    if (std::size_t sign = front.find_last_of("-_/.,:"); sign != front.npos && sign > 0) front.resize(sign + 1);
    word.erase(0, front.size());
    return front;
}

std::vector<std::string> wrapped(const std::string& text, int width) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != text.npos) {
        std::size_t end = std::min(text.find(' ', at), text.size());
        std::string word = text.substr(at, end - at);
        if (!lines.empty() && cells(lines.back()) + 1 + cells(word) <= width)
            lines.back() += ' ' + word;
        else {
            while (cells(word) > width) lines.push_back(take_front(word, width));
            lines.push_back(word);
        }
        at = end;
    }
    return lines.empty() ? std::vector<std::string>{""} : lines;
}

int widest_word(const std::string& text) {
    int widest = 0;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != text.npos) {
        std::size_t end = std::min(text.find(' ', at), text.size());
        widest = std::max(widest, cells(std::string_view(text).substr(at, end - at)));
        at = end;
    }
    return widest;
}

// Columns as wide as their cells; the widest ones are narrowed until all fit. Words are broken only if necessary.
std::vector<int> column_widths(const std::vector<std::vector<std::string>>& rows, int room) {
    std::vector<int> widths(rows.front().size(), 0), least(widths);
    for (const auto& row : rows)
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], cells(row[column]));
            least[column] = std::max(least[column], widest_word(row[column]));
        }
    room -= kBetween * static_cast<int>(widths.size() - 1);
    int needed = 0;
    for (int width : least) needed += width;
    if (needed > room)
        for (int& width : least)
            width = std::min(width, std::max(kMinColumnWidth, room / static_cast<int>(widths.size())));
    auto sum = [&] {
        int all = 0;
        for (int width : widths) all += width;
        return all;
    };
    while (sum() > room) {
        int* widest = nullptr;
        for (std::size_t column = 0; column < widths.size(); ++column)
            if (widths[column] > least[column] && (widest == nullptr || widths[column] > *widest))
                widest = &widths[column];
        if (widest == nullptr) break;
        --*widest;
    }
    return widths;
}

class PageText {
public:
    explicit PageText(const Style& style) : style_(style), width_(std::min(style.width, kMaxPageWidth)) {}

    std::string text(std::string_view markdown) {
        for (const MarkdownBlock& block : parse_markdown(markdown)) add(block);
        return std::move(out_);
    }

private:
    using Kind = MarkdownBlock::Kind;

    void add(const MarkdownBlock& block) {
        bool tight = block.kind == Kind::item && previous_ == Kind::item;
        if (!out_.empty() && !tight) out_ += '\n';
        previous_ = block.kind;
        switch (block.kind) {
            case Kind::heading: return heading(block);
            case Kind::paragraph:
                return lines(wrapped(plain_inline(block.text), width_ - left(block)), blanks(left(block)));
            case Kind::item: return item(block);
            case Kind::code: return code(block);
            case Kind::table: return table(block);
        }
    }

    static int left(const MarkdownBlock& block) { return kIndent + block.level; }

    void heading(const MarkdownBlock& block) {
        std::string text = plain_inline(block.text);
        text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == kBold || c == kPlain; }),
                   text.end());
        line(blanks(block.level > 2 ? kIndent / 2 : 0) + kBold + text + kPlain);
    }

    void item(const MarkdownBlock& block) {
        std::string first = blanks(left(block)) + block.marker + ' ';
        int hanging = display_width(first);
        std::vector<std::string> all = wrapped(plain_inline(block.text), width_ - hanging);
        for (std::size_t i = 0; i < all.size(); ++i) line((i == 0 ? first : blanks(hanging)) + all[i]);
    }

    void code(const MarkdownBlock& block) {
        std::string_view rest = block.text;
        while (!rest.empty()) {
            std::string_view one = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            line(one.empty() ? "" : blanks(left(block) + kIndent) + std::string(one));
        }
    }

    void table(const MarkdownBlock& block) {
        std::vector<std::vector<std::string>> rows = block.rows;
        for (auto& row : rows)
            for (std::string& cell : row) cell = plain_inline(cell);
        std::vector<int> widths = column_widths(rows, width_ - left(block));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            bool header = i == 0;
            if (header && std::all_of(rows[i].begin(), rows[i].end(), [](const auto& cell) { return cell.empty(); }))
                continue;
            row(rows[i], widths, left(block), header);
            if (!header) continue;
            std::vector<std::string> rules;
            for (int width : widths) rules.emplace_back(static_cast<std::size_t>(width), '-');
            row(rules, widths, left(block), false);
        }
    }

    // The cells of a row side by side, each wrapped in its column.
    void row(const std::vector<std::string>& row_cells, const std::vector<int>& widths, int indent, bool header) {
        std::vector<std::vector<std::string>> columns;
        std::size_t height = 0;
        for (std::size_t column = 0; column < row_cells.size(); ++column) {
            columns.push_back(wrapped(row_cells[column], widths[column]));
            height = std::max(height, columns.back().size());
        }
        for (std::size_t i = 0; i < height; ++i) {
            std::string all = blanks(indent);
            for (std::size_t column = 0; column < columns.size(); ++column) {
                std::string part = i < columns[column].size() ? columns[column][i] : "";
                int padding = widths[column] - cells(part) + kBetween;
                if (header && !part.empty()) part = kBold + part + kPlain;
                all += part + blanks(padding);
            }
            all.resize(all.find_last_not_of(' ') + 1);
            line(all);
        }
    }

    void lines(const std::vector<std::string>& all, const std::string& indent) {
        for (const std::string& one : all) line(indent + one);
    }

    // One line, with the marks of bold as the terminal has them, and in ASCII where it has nothing else.
    void line(std::string_view text) {
        while (!text.empty()) {
            CodePoint point = decode_utf8(text);
            std::string_view bytes = text.substr(0, point.bytes);
            text.remove_prefix(point.bytes);
            if (point.value == kBold || point.value == kPlain) {
                if (style_.colour) out_ += point.value == kBold ? "\x1b[1m" : "\x1b[0m";  // SGR, ECMA-48 8.3.117
            } else if (point.value < 0x80 || style_.unicode) {
                out_ += bytes;
            } else {
                out_ += ascii(point.value);
            }
        }
        out_ += '\n';
    }

    static std::string_view ascii(char32_t value) {
        switch (value) {
            case U'–':
            case U'—': return "-";
            case U'·': return "*";
            case U'→':
            case U'▶': return ">";
            case U'…': return "...";
            case U'×': return "x";
            default: return "?";
        }
    }

    const Style& style_;
    int width_;
    std::string out_;
    Kind previous_ = Kind::heading;
};

}  // namespace

std::string page_text(std::string_view markdown, const Style& style) { return PageText(style).text(markdown); }

}  // namespace gpuprof::cli
