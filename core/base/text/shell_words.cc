#include "core/base/text/shell_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text/ascii.h"
#include "core/base/text/utf8.h"

namespace gpuprof::inline base {
namespace {

bool needs_no_quotes(char c) {
    return is_alphanumeric(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

// Between the quotes of $'...'. Bytes as three octal digits: in some shells "\x" would also consume the digits that
// follow.
std::string escaped(std::string_view word) {
    std::string out;
    while (!word.empty()) {
        CodePoint point = decode_utf8(word);
        std::string_view bytes = word.substr(0, point.bytes);
        if (bytes == "\n")
            out += "\\n";
        else if (bytes == "\t")
            out += "\\t";
        else if (bytes == "\r")
            out += "\\r";
        else if (bytes == "'" || bytes == "\\")
            out.append("\\").append(bytes);
        else if (!point.valid || is_control(point.value))
            for (char c : bytes) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        else
            out += bytes;
        word.remove_prefix(point.bytes);
    }
    return out;
}

// What the escape at `i` denotes; `i` moves to its last character.
char unescaped(std::string_view words, std::size_t& i) {
    char c = ++i < words.size() ? words[i] : '\\';
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == 'r') return '\r';
    if (c < '0' || c > '7') return c;
    int value = 0;
    std::size_t end = std::min(i + 3, words.size());
    for (; i < end && words[i] >= '0' && words[i] <= '7'; ++i) value = value * 8 + (words[i] - '0');
    --i;
    return static_cast<char>(value);
}

bool can_be_shown(std::string_view word) {
    while (!word.empty()) {
        CodePoint point = decode_utf8(word);
        if (!point.valid || is_control(point.value)) return false;
        word.remove_prefix(point.bytes);
    }
    return true;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
    // zsh expands "=ls" to a path.
    if (!word.empty() && word[0] != '=' && std::all_of(word.begin(), word.end(), needs_no_quotes))
        return std::string(word);
    if (!can_be_shown(word)) return fmt::format("$'{}'", escaped(word));
    std::string out = "'";
    for (char c : word) c == '\'' ? out += "'\\''" : out += c;
    return out + "'";
}

std::string shell_quoted_file(std::string_view file) {
    return shell_quoted(file.size() > 1 && file[0] == '-' ? fmt::format("./{}", file) : std::string(file));
}

std::string shell_quoted_files(std::span<const std::string> files) {
    std::string words;
    for (const std::string& file : files) words += (words.empty() ? "" : " ") + shell_quoted_file(file);
    return words;
}

std::string plain_files(std::string_view words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        bool escapes = words.substr(i, 2) == "$'";
        if (words.substr(i, 2) == "\\'") {
            out += words[++i];
        } else if (!escapes && words[i] != '\'') {
            out += words[i];
        } else if (!escapes) {
            std::size_t end = std::min(words.find('\'', i + 1), words.size());
            out += words.substr(i + 1, end - i - 1);
            i = end;
        } else {
            for (i += 2; i < words.size() && words[i] != '\''; ++i)
                out += words[i] == '\\' ? unescaped(words, i) : words[i];
        }
    }
    return out;
}

std::string base_name(const std::string& path) {
    std::size_t end = path.find_last_not_of('/');
    if (end == std::string::npos) return path;
    std::size_t slash = path.rfind('/', end);
    return path.substr(slash + 1, end - slash);
}

}  // namespace gpuprof::base
