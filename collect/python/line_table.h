// The line of a position in a code object, by the three tables that CPython 3.9 to 3.13 have. A table is read as far as it
// makes sense; whatever it holds, the answer is a line or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collect/python/layout.h"

namespace gpuprof::python {

// `position`: the index of the instruction in 2-byte units (in bytes for lnotab); before the first one it is the first line.
std::optional<std::int32_t> line_at(LineTable kind, std::string_view table, std::int64_t position,
                                    std::int32_t first_line);

}  // namespace gpuprof::python
