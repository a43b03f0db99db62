// Sections of a payload, compressed with zstd (RFC 8878) if that makes them smaller. A section whose stored size equals
// its raw size is not compressed. Contexts are kept between calls; one object per thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/pod_vector.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gpuprof::inline format {

// No section is larger before compression.
inline constexpr std::size_t kMaxSectionBytes = std::size_t{256} << 20;

class Compressor {
public:
    explicit Compressor(int level);
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    // `raw` compressed, or `raw` itself if that is not longer. Statistics are reset at each of `ends`, ascending
    // offsets: the planes of a column differ too much to share a code table.
    std::string_view compress(std::string_view raw, std::span<const std::size_t> ends = {});

private:
    ZSTD_CCtx_s* context_;
    std::string out_;
};

class Decompressor {
public:
    Decompressor();
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    // Writes exactly `raw_size` bytes to `into`; false if `stored` does not decode to them.
    bool decompress(std::string_view stored, char* into, std::size_t raw_size);

private:
    ZSTD_DCtx_s* context_;
};

}  // namespace gpuprof::format
