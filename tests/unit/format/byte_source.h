// Bytes in memory as the input of a reader of chunks. For unit tests and fuzz targets.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/format/chunk_reader.h"

namespace gpuprof::test {

// Input that hands out a few bytes at a time.
class Bytes final : public ByteInput {
public:
    explicit Bytes(std::string_view bytes, std::size_t piece = static_cast<std::size_t>(-1))
        : rest_(bytes), piece_(piece) {}
    Result<std::size_t> read(char* into, std::size_t size) override {
        size = std::min({size, piece_, rest_.size()});
        if (size > 0) std::memcpy(into, rest_.data(), size);
        rest_.remove_prefix(size);
        return size;
    }

private:
    std::string_view rest_;
    std::size_t piece_;
};

}  // namespace gpuprof::test
