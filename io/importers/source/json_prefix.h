// The intact part of a damaged or truncated JSON document: up to the last complete value, plus the missing closing
// brackets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof::inline importers {

struct JsonPrefix {
    std::size_t whole = 0;  // bytes up to the last complete value; 0 if there is none
    std::size_t ends = 0;   // where the document becomes invalid: its size if it is truncated
    std::string closing;    // what completes the document
};

// Values deeper than `deepest` are kept only within a complete value of that depth: in {"events": [{...}, {...}]}, 2
// keeps whole events. A number is complete only if something follows it.
JsonPrefix complete_prefix(std::string_view text, std::size_t deepest);

}  // namespace gpuprof::importers
