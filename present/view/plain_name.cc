#include "present/view/plain_name.h"

namespace gpuprof::inline view {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The end of ", key = 12" at `at`, or `at`.
std::size_t end_of_number(std::string_view name, std::size_t at) {
    if (name.substr(at, 2) != ", ") return at;
    std::size_t key = at + 2, end = key;
    while (end < name.size() && is_word(name[end])) ++end;
    if (end == key || name.substr(end, 3) != " = ") return at;
    std::size_t digits = end += 3;
    while (end < name.size() && is_digit(name[end])) ++end;
    return end == digits ? at : end;
}

}  // namespace

std::string plain_name(std::string_view name) {
    std::string plain;
    for (std::size_t at = 0; at < name.size();) {
        std::size_t end = end_of_number(name, at);
        if (end == at) plain += name[end++];
        at = end;
    }
    std::size_t digits = plain.size();
    while (digits > 0 && is_digit(plain[digits - 1])) --digits;
    if (digits > 0 && digits < plain.size() && plain[digits - 1] == '#')
        plain.replace(digits - 1, std::string::npos, "*");
    return plain;
}

}  // namespace gpuprof::view
