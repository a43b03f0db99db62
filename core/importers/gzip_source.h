// Inflates gzip (RFC 1952) as a stream, any number of members. What a damaged or cut off file still gives is delivered; damaged()
// tells. Zero padding after the last member is allowed, as gzip(1) allows it.
#pragma once

#include "core/importers/peekable.h"

namespace gpuprof {

bool is_gzip(std::string_view head);
std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<Source> compressed);

}  // namespace gpuprof
