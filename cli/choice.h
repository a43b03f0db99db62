// Named choices of the command line (formats, analyses, ...): the names for completion and for messages, and the error
// of a name that does not exist.
#pragma once

#include <algorithm>
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

}  // namespace gpuprof
