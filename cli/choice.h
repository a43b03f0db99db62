// Named choices of the command line (formats, analyses, ...): their names, for completion and messages.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/text/close_match.h"

namespace gpuprof::inline cli {

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

}  // namespace gpuprof::cli
