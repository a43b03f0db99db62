// Whether a text is one JSON value (RFC 8259), so that it can be embedded in a document unchanged. Traces keep shapes
// and scalar arguments as the recorder wrote them, and not every recorder writes JSON.
#pragma once

#include <string_view>

namespace gpuprof::inline exporters {

// Nesting deeper than 64 and bytes that are not UTF-8 count as invalid JSON.
bool is_json(std::string_view text);

}  // namespace gpuprof::exporters
