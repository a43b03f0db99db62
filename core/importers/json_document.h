// A JSON document in memory, for formats that are small or that nest; traces of gigabytes have a reader of their own (kineto/scan.h).
// Nested at most kDeepest values deep, and at most 4 GiB long, which simdjson asks for. Of one that is damaged or cut off, what comes
// before is read.
#pragma once

#include <simdjson.h>

#include <string>

#include "core/importers/source.h"

namespace gpuprof {

class JsonDocument {
public:
    static constexpr std::size_t kDeepest = 1024;

    // Reads all of `source`. Values point into this object. `deepest` as in json_prefix.h.
    Result<simdjson::dom::element> read(Source& source, std::size_t deepest);
    // Where reading stopped in a document that is not whole; "" of one that is.
    const std::string& cut() const { return cut_; }
    // What it takes in memory, at most.
    std::size_t bytes() const { return bytes_; }

private:
    simdjson::error_code parse(simdjson::dom::element& root);

    simdjson::dom::parser parser_;
    std::string text_, cut_;
    std::size_t bytes_ = 0;
};

}  // namespace gpuprof
