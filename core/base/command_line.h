// A process's arguments as one line of text without the values that are better not kept: "--token=x" and "--token x" lose
// the x, and so does API_KEY=x. Used by the launcher and, inside other people's programs, by the injected library: a
// header, and nothing here allocates, throws or locks.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace gpuprof {

// Whether the value of an option or variable called `name` is better not kept.
inline bool names_a_secret(std::string_view name) noexcept {
    char lower[128];
    std::size_t size = name.size() < sizeof lower ? name.size() : sizeof lower;
    for (std::size_t i = 0; i < size; ++i)
        lower[i] = static_cast<char>(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    std::string_view text(lower, size);
    for (std::string_view word :
         {"password", "passwd", "secret", "token", "api_key", "api-key", "apikey", "credential"})
        if (text.find(word) != std::string_view::npos) return true;
    return false;
}

// Writes the arguments of `raw`, each ended by a NUL as /proc/PID/cmdline has them, separated by blanks to `to`; the
// length. What does not fit is left out, whole arguments at a time.
inline std::size_t write_command(std::string_view raw, char* to, std::size_t capacity) noexcept {
    std::size_t at = 0;
    bool hide_next = false;
    while (!raw.empty()) {
        std::string_view word = raw.substr(0, raw.find('\0'));
        raw.remove_prefix(word.size() < raw.size() ? word.size() + 1 : raw.size());
        std::size_t equals = word.find('=');
        bool assigns = equals != std::string_view::npos;
        bool option = !word.empty() && names_a_secret(word.substr(0, equals)) && (word[0] == '-' || assigns);
        std::string_view shown = hide_next ? "***" : option && assigns ? word.substr(0, equals + 1) : word;
        std::string_view hidden = !hide_next && option && assigns ? "***" : "";
        hide_next = !hide_next && option && !assigns;
        std::string_view blank = at > 0 ? " " : "";
        if (blank.size() + shown.size() + hidden.size() > capacity - at) break;
        for (std::string_view part : {blank, shown, hidden}) at += part.copy(to + at, part.size());
    }
    return at;
}

}  // namespace gpuprof
