// A JSON document in memory, for formats that are small or that nest; traces of gigabytes have a reader of their own (kineto/scan.h).
// Nested at most kDeepest values deep, and at most 4 GiB long, which simdjson asks for.
#pragma once

#include <simdjson.h>

#include <fmt/format.h>

#include "core/importers/whole.h"

namespace gpuprof {

class JsonDocument {
public:
    static constexpr std::size_t kDeepest = 1024;

    // Reads all of `source`. What it holds lives as long as this object.
    Result<simdjson::dom::element> read(Source& source) {
        constexpr std::size_t kMostBytes = (std::size_t{4} << 30) - 64;
        Result<std::string> text = read_whole(source, kMostBytes, simdjson::SIMDJSON_PADDING);
        if (!text.ok()) return text.error();
        text_ = std::move(*text);
        simdjson::dom::element root;
        auto error = parser_.allocate(text_.size() + 1, kDeepest);
        if (error == simdjson::SUCCESS)
            error =
                parser_.parse(text_.data(), text_.size(), text_.capacity() < text_.size() + simdjson::SIMDJSON_PADDING)
                    .get(root);
        if (error != simdjson::SUCCESS)
            return Error{ExitCode::unreadable, fmt::format("{}: no JSON that can be read: {}", source.name(),
                                                           simdjson::error_message(error))};
        return root;
    }

private:
    simdjson::dom::parser parser_;
    std::string text_;
};

}  // namespace gpuprof
