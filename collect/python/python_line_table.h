// The line of a position in a code object, from the three table formats of CPython 3.9 to 3.13. A table is read as far
// as it is valid; the result is always a line or absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collect/python/layout.h"

namespace gpuprof::python {

// `position`: the index of the instruction in 2-byte units (in bytes for lnotab). A position before the first one
// yields the first line.
std::optional<std::int32_t> line_at(LineTable kind, std::string_view table, std::int64_t position,
                                    std::int32_t first_line);

}  // namespace gpuprof::python
