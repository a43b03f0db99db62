// A file, a pipe or standard input as it is.
#pragma once

#include "core/importers/peekable.h"

namespace gpuprof {

Result<std::unique_ptr<ByteStream>> open_file_bytes(const std::string& file, const ReadLimits& limits);

}  // namespace gpuprof
