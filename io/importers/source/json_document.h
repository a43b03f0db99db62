// A JSON document in memory, for formats that are small or nested; traces of gigabytes have their own reader
// (kineto/scan.h). Values may nest kMaxDepth deep, and the document may be 4 GiB long, simdjson's limit. Of a damaged or
// truncated document, the part before the damage is read.
#pragma once

#include <simdjson.h>

#include <string>

#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

class JsonDocument {
public:
    static constexpr std::size_t kMaxDepth = 1024;

    // Reads all of `source`. Values point into this object. `deepest` is that of json_prefix.h.
    Result<simdjson::dom::element> read(Source& source, std::size_t deepest);
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
