#include "core/format/chunk.h"

#include <zlib.h>

#include "core/format/bytes.h"

namespace gpuprof::inline format {

std::uint32_t checksum(std::string_view bytes) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    return static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()));
}

std::string encode_header(ChunkKind kind, std::uint32_t sequence, std::string_view payload) {
    std::string header(kChunkMagic);
    put_u32(header, static_cast<std::uint32_t>(kind));
    put_u32(header, static_cast<std::uint32_t>(payload.size()));
    put_u32(header, sequence);
    put_u32(header, checksum(payload));
    put_u32(header, checksum(header));
    return header;
}

std::optional<ChunkHeader> decode_header(std::string_view bytes) {
    constexpr std::size_t kCovered = kChunkHeaderBytes - 4;
    if (bytes.size() < kChunkHeaderBytes || bytes.substr(0, kChunkMagic.size()) != kChunkMagic) return {};
    if (load_u32(bytes.data() + kCovered) != checksum(bytes.substr(0, kCovered))) return {};
    ChunkHeader header;
    header.kind = load_u32(bytes.data() + 8);
    header.length = load_u32(bytes.data() + 12);
    header.sequence = load_u32(bytes.data() + 16);
    header.payload_crc = load_u32(bytes.data() + 20);
    if (header.length > kMaxPayloadBytes) return {};
    return header;
}

}  // namespace gpuprof::format
