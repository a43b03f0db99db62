// A JSON document in memory, for formats that are small or nested; traces of gigabytes have their own reader
// (kineto/scan.h). Values may nest kMaxDepth deep, and the document may be 4 GiB long, simdjson's limit. Of a damaged or
// truncated document, the part before the damage is read.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

// The intact part of a damaged or truncated JSON document: up to the last complete value, plus the missing closing
// brackets.
struct JsonPrefix {
    std::size_t whole = 0;  // bytes up to the last complete value; 0 if there is none
    std::size_t ends = 0;   // where the document becomes invalid: its size if it is truncated
    std::string closing;    // what completes the document
};

// Values deeper than `deepest` are kept only within a complete value of that depth: in {"events": [{...}, {...}]}, 2
// keeps whole events. A number is complete only if something follows it.
JsonPrefix complete_prefix(std::string_view text, std::size_t deepest);

class JsonDocument {
public:
    static constexpr std::size_t kMaxDepth = 1024;

    // Reads all of `source`. Values point into this object. `deepest` is that of complete_prefix.
    Result<simdjson::dom::element> read(Source& source, std::size_t deepest);
    // The same of a text that was read, or made, from `source`.
    Result<simdjson::dom::element> parse(std::string text, Source& source, std::size_t deepest);
    // Where reading stopped in an incomplete document; "" if it is complete.
    const std::string& cut() const { return cut_; }
    // Upper bound of its memory use.
    std::size_t bytes() const { return bytes_; }

private:
    simdjson::error_code parse(simdjson::dom::element& root);

    simdjson::dom::parser parser_;
    std::string text_, cut_;
    std::size_t bytes_ = 0;
};

}  // namespace gpuprof::importers
