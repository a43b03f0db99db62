// A regular file read whole, with a limit. Devices and pipes are refused: they may never end, or wait for ever. For recordings see
// io/importers/source/byte_stream.h.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace gpuprof::inline base {

Result<std::string> read_whole_file(const std::string& path, std::uint64_t most_bytes);

}  // namespace gpuprof::base
