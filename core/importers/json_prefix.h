// The part of a damaged or cut off JSON document that is whole: up to the last complete value, with the brackets closed that are open there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof {

struct JsonPrefix {
    std::size_t whole = 0;  // bytes up to the last complete value; 0 when there is none
    std::size_t ends = 0;   // where the document stops making sense: its size when it is cut off
    std::string closing;    // what makes it a document
};

// Values that lie deeper than `deepest` are kept only within a complete value of that depth: of {"events": [{...}, {...}]}, 2 keeps whole
// events. Numbers count as complete when something follows them.
JsonPrefix whole_prefix(std::string_view text, std::size_t deepest);

}  // namespace gpuprof
