// Named choices of the command line (formats, analyses, ...): the names for completion and for messages, and the error
// of a name that does not exist, which says what may have been meant.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace gpuprof {

// The names of a list of things with a `name`, or of pointers to them.
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

// "there is no KIND NAME; did you mean ...?", or what there is when nothing is close.
Error unknown_choice(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known);

// Up to three of `words` that are a few typing errors away from `word`, or begin or contain it; the closest first.
std::vector<std::string_view> close_matches(std::string_view word, std::span<const std::string_view> words);
// "; did you mean a or b?", or "" without a match.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);
// "a, b, c"
std::string joined(std::span<const std::string_view> words, std::string_view between = ", ");

}  // namespace gpuprof
