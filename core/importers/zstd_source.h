// Decompresses zstd (RFC 8878) as a stream, any number of frames. What a damaged or cut off file still gives is delivered; damaged()
// tells. Skippable frames are skipped.
#pragma once

#include "core/importers/peekable.h"

namespace gpuprof {

bool is_zstd(std::string_view head);
std::unique_ptr<ByteStream> open_zstd(std::unique_ptr<Source> compressed);

}  // namespace gpuprof
