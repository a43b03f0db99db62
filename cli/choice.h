// Named choices of the command line (formats, analyses, ...): their names, for completion and messages, and the error
// for an unknown name, with suggestions.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof {

// The names in a list of things with a `name`, or of pointers to such things.
template <class List>
std::vector<std::string_view> names_of(const List& list) {
    std::vector<std::string_view> names;
    for (const auto& item : list) {
        if constexpr (requires { item->name; })
            names.push_back(item->name);
        else
            names.push_back(item.name);
    }
    return names;
}

// "unknown KIND 'NAME'; did you mean 'x'?", or with all known names without a close match.
Error unknown_choice(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);

// Up to three of `words` that differ from `word` by a few typing errors, or that one contains in the other; the closest
// first.
std::vector<std::string_view> close_matches(std::string_view word, std::span<const std::string_view> words);
// "; did you mean 'a' or 'b'?", or "" without a match.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
// "a, b, c"
std::string joined(std::span<const std::string_view> words, std::string_view between = ", ");

}  // namespace gpuprof
