// A whole input in memory, for formats that cannot be read in pieces.
#pragma once

#include <string>

#include "io/importers/source/source.h"

namespace gpuprof::inline importers {

// Fails if there are more than `max_bytes` bytes. `padding` zero bytes follow the text, outside its size, in its capacity.
Result<std::string> read_all(Source& source, std::size_t max_bytes, std::size_t padding = 0);

}  // namespace gpuprof::importers
