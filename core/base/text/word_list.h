// A list of words as one text, " red green ": each between blanks.
#pragma once

#include <string_view>

namespace gpuprof::inline base {

constexpr bool listed(std::string_view words, std::string_view word) noexcept {
    if (word.empty() || word.find(' ') != word.npos) return false;
    for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1))
        if (at > 0 && words[at - 1] == ' ' && words.substr(at + word.size()).starts_with(' ')) return true;
    return false;
}

}  // namespace gpuprof::base
