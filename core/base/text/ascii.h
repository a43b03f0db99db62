// Character classes of ASCII, independent of the locale. Bytes beyond ASCII belong to none of them. And what C++23 has
// as a member of strings.
#pragma once

#include <initializer_list>
#include <string_view>

namespace gpuprof::inline base {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) noexcept { return is_upper(c) || is_lower(c); }
constexpr bool is_alphanumeric(char c) noexcept { return is_letter(c) || is_digit(c); }
constexpr char to_lower(char c) noexcept { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool contains(std::string_view text, std::string_view part) noexcept { return text.find(part) != text.npos; }
constexpr bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) noexcept {
    for (std::string_view part : parts)
        if (contains(text, part)) return true;
    return false;
}

}  // namespace gpuprof::base
