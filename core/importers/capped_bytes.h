// What a decompressor gives, up to the limits of reading: a file of a few megabytes can unpack to terabytes.
#pragma once

#include "core/importers/peekable.h"

namespace gpuprof {

std::unique_ptr<ByteStream> cap_unpacked(std::unique_ptr<ByteStream> unpacked, const std::string& name,
                                         const ReadLimits& limits);

}  // namespace gpuprof
