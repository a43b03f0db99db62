#include "cli/help/help_markdown.h"

#include <algorithm>
#include <cctype>

namespace gpuprof::inline cli {
namespace {

using Kind = MarkdownBlock::Kind;

std::string_view trimmed(std::string_view text) {
    std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

int indent_of(std::string_view line) { return static_cast<int>(std::min(line.find_first_not_of(' '), line.size())); }

// Comments, which stay within a line; "" for a line that has nothing else.
std::string without_comments(std::string_view line) {
    std::string out;
    for (std::size_t begin; (begin = line.find("<!--")) != line.npos;) {
        std::size_t end = line.find("-->", begin);
        if (end == line.npos) break;
        out += line.substr(0, begin);
        line.remove_prefix(end + 3);
    }
    out += line;
    return out;
}

// "*", "-", "3." at the beginning of a list's item; "" for any other line.
std::string_view marker_of(std::string_view line) {
    line = trimmed(line);
    std::size_t digits = 0;
    while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
    bool bullet = digits == 0 && (line.starts_with("* ") || line.starts_with("- "));
    bool number = digits > 0 && digits < 4 && line.substr(digits, 2) == ". ";
    if (bullet) return line.substr(0, 1);
    return line.substr(0, number ? digits + 1 : 0);
}

// Cells between bars; a bar in code or after a backslash belongs to the cell.
std::vector<std::string> cells_of(std::string_view line) {
    line = trimmed(line);
    line.remove_prefix(1);
    std::vector<std::string> cells;
    std::string cell;
    bool code = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        bool escaped = line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|';
        if (line[i] == '`') code = !code;
        if (line[i] == '|' && !code) {
            cells.emplace_back(trimmed(cell));
            cell.clear();
        } else {
            cell += escaped ? '|' : line[i];
            i += escaped ? 1 : 0;
        }
    }
    if (!trimmed(cell).empty()) cells.emplace_back(trimmed(cell));
    return cells;
}

class Parser {
public:
    explicit Parser(std::string_view page) : rest_(page) {}

    std::vector<MarkdownBlock> blocks() && {
        while (!rest_.empty()) take_line();
        return std::move(blocks_);
    }

private:
    std::string_view next() {
        std::string_view line = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
        return line;
    }

    void take_line() {
        std::string line = without_comments(next());
        std::string_view text = trimmed(line);
        if (text.empty()) {
            open_ = false;
        } else if (text.starts_with("```")) {
            fenced(indent_of(line));
        } else if (text.front() == '#' && indent_of(line) == 0) {
            int level = static_cast<int>(text.find_first_not_of('#'));
            add({.kind = Kind::heading, .level = level, .text = std::string(trimmed(text.substr(text.find(' ') + 1)))});
            open_ = in_list_ = false;
        } else if (text.front() == '|') {
            table_row(line);
        } else if (std::string_view marker = marker_of(line); !marker.empty()) {
            add({.kind = Kind::item,
                 .level = indent_of(line),
                 .marker = std::string(marker),
                 .text = std::string(trimmed(text.substr(marker.size())))});
            open_ = in_list_ = true;
        } else if (!open_ && !in_list_ && indent_of(line) >= 4) {
            indented(line);
        } else {
            plain(line);
        }
    }

    void plain(std::string_view line) {
        std::string_view text = trimmed(line);
        if (open_ && blocks_.back().kind != Kind::table) {
            blocks_.back().text += ' ';
            blocks_.back().text += text;
            return;
        }
        if (indent_of(line) == 0) in_list_ = false;
        add({.kind = Kind::paragraph, .level = in_list_ ? indent_of(line) : 0, .text = std::string(text)});
        open_ = true;
    }

    void fenced(int indent) {
        MarkdownBlock block{.kind = Kind::code, .level = in_list_ ? indent : 0};
        while (!rest_.empty()) {
            std::string_view line = next();
            if (trimmed(line).starts_with("```")) break;
            line.remove_prefix(static_cast<std::size_t>(std::min(indent, indent_of(line))));
            block.text += line;
            block.text += '\n';
        }
        add(std::move(block));
        open_ = false;
    }

    void indented(std::string_view line) {
        bool goes_on = !blocks_.empty() && blocks_.back().kind == Kind::code && indented_code_;
        if (!goes_on) add({.kind = Kind::code});
        if (goes_on && blank_before_) blocks_.back().text += '\n';
        blocks_.back().text += line.substr(4);
        blocks_.back().text += '\n';
        while (rest_.starts_with("    ")) {
            blocks_.back().text += next().substr(4);
            blocks_.back().text += '\n';
        }
        indented_code_ = true;
    }

    void table_row(std::string_view line) {
        bool goes_on = open_ && blocks_.back().kind == Kind::table;
        if (!goes_on) add({.kind = Kind::table});
        open_ = true;
        std::vector<std::string> cells = cells_of(line);
        std::vector<std::vector<std::string>>& rows = blocks_.back().rows;
        bool rule = rows.size() == 1 && std::all_of(cells.begin(), cells.end(), [](const std::string& cell) {
                        return cell.find_first_not_of(":-") == std::string::npos;
                    });
        if (rule) return;
        if (!rows.empty()) cells.resize(rows.front().size());
        rows.push_back(std::move(cells));
    }

    void add(MarkdownBlock block) {
        blank_before_ = !open_;
        indented_code_ = false;
        blocks_.push_back(std::move(block));
    }

    std::string_view rest_;
    std::vector<MarkdownBlock> blocks_;
    bool open_ = false;           // the next plain line belongs to the last block
    bool in_list_ = false;        // an indented paragraph belongs to the last item
    bool indented_code_ = false;  // the last block is code that is indented, not fenced
    bool blank_before_ = false;
};

// [text](target) at the front of `text`: how long it is, 0 when it is no link.
std::size_t link_at(std::string_view text, std::string_view& shown, std::string_view& target) {
    std::size_t depth = 0, close = 0;
    for (; close < text.size(); ++close) {
        if (text[close] == '[') ++depth;
        if (text[close] == ']' && --depth == 0) break;
    }
    if (close >= text.size() || text.substr(close, 2) != "](") return 0;
    std::size_t end = text.find(')', close);
    if (end == text.npos) return 0;
    shown = text.substr(1, close - 1);
    target = text.substr(close + 2, end - close - 2);
    return end + 1;
}

bool leads_elsewhere(std::string_view target) { return target.find("://") != target.npos; }

// Code is taken as it is; asterisks are emphasis where they touch a word.
class Inline {
public:
    std::string plain(std::string_view text) {
        while (!text.empty()) text.remove_prefix(piece(text));
        return std::move(out_);
    }

private:
    void put(char c) {
        if (bold_ && c == ' ')
            out_ += {kPlain, ' ', kBold};
        else
            out_ += c;
    }
    void put(std::string_view text) {
        for (char c : text) put(c);
    }
    void turn_bold() {
        bold_ = !bold_;
        out_ += bold_ ? kBold : kPlain;
    }

    // Writes what `text` begins with, and answers how much of it that was.
    std::size_t piece(std::string_view text) {
        std::string_view shown, target;
        if (text.front() == '\\' && text.size() > 1 && std::ispunct(static_cast<unsigned char>(text[1])) != 0) {
            put(text[1]);
            return 2;
        }
        if (text.front() == '`') {
            std::size_t end = text.find('`', 1);
            if (end == text.npos) {
                put('`');
                return 1;
            }
            put(text.substr(1, end - 1));
            return end + 1;
        }
        if (std::size_t length = text.starts_with("![") ? link_at(text.substr(1), shown, target) : 0; length > 0) {
            put("[picture: ");
            put(shown);
            put("]");
            return length + 1;
        }
        if (std::size_t length = text.front() == '[' ? link_at(text, shown, target) : 0; length > 0) {
            bool bold = bold_;
            Inline within;
            within.bold_ = bold;
            out_ += within.plain(shown);
            if (leads_elsewhere(target)) {
                put(" (");
                put(target);
                put(")");
            }
            return length;
        }
        if (text.starts_with("<br>")) {
            put(' ');
            return 4;
        }
        if (text.starts_with("**")) {
            turn_bold();
            return 2;
        }
        if (text.front() == '*' && emphasis(text)) return 1;
        before_ = text.front();
        put(text.front());
        return 1;
    }

    // An asterisk that stands alone ("a * b") is one; so is one in "int*".
    bool emphasis(std::string_view text) {
        bool opens = !italic_ && text.size() > 1 && text[1] != ' ' &&
                     std::isalnum(static_cast<unsigned char>(before_)) == 0 && text.find('*', 1) != text.npos;
        if (!opens && !italic_) return false;
        italic_ = opens;
        return true;
    }

    std::string out_;
    bool bold_ = false, italic_ = false;
    char before_ = ' ';
};

}  // namespace

std::vector<MarkdownBlock> parse_markdown(std::string_view page) { return Parser(page).blocks(); }

std::string plain_inline(std::string_view text) { return Inline().plain(text); }

std::vector<std::string> linked_pages(std::string_view page) {
    std::vector<std::string> names;
    for (const MarkdownBlock& block : parse_markdown(page)) {
        std::string text = block.kind == Kind::code ? "" : block.text;
        for (const auto& row : block.rows)
            for (const std::string& cell : row) text += cell + ' ';
        for (std::size_t at = 0; (at = text.find("](", at)) != text.npos; at += 2) {
            std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
            target = target.substr(0, target.find('#'));
            if (leads_elsewhere(target) || !target.ends_with(".md")) continue;
            std::size_t begin = target.rfind('/') + 1;
            std::string name = target.substr(begin, target.size() - 3 - begin);
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

}  // namespace gpuprof::cli
