#include "core/format/chunk.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/format/bytes.h"

namespace gpuprof::inline format {
namespace {

#if defined(__x86_64__)
// The folding of "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009): replaces all whole
// blocks of 16 bytes, at least four, by 16 bytes with the same remainder. The constants are powers of x modulo the polynomial.
__attribute__((target("pclmul"))) void fold_crc(const char* data, std::size_t blocks, void* into) {
    auto step = [](__m128i sum, __m128i by, __m128i next) __attribute__((target("pclmul"))) {
        __m128i low = _mm_clmulepi64_si128(sum, by, 0x00), high = _mm_clmulepi64_si128(sum, by, 0x11);
        return _mm_xor_si128(_mm_xor_si128(low, high), next);
    };
    auto block = [data](std::size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i); };
    const __m128i by_four = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), by_one = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i sums[4] = {_mm_xor_si128(block(0), _mm_cvtsi32_si128(-1)), block(1), block(2), block(3)};
    std::size_t at = 4;
    for (; at + 4 <= blocks; at += 4)
        for (std::size_t i = 0; i < 4; ++i) sums[i] = step(sums[i], by_four, block(at + i));
    for (std::size_t i = 1; i < 4; ++i) sums[i] = step(sums[i - 1], by_one, sums[i]);
    for (; at < blocks; ++at) sums[3] = step(sums[3], by_one, block(at));
    _mm_storeu_si128(static_cast<__m128i*>(into), sums[3]);
}
#endif

}  // namespace

std::uint32_t checksum(std::string_view bytes) {
    uLong crc = 0;
#if defined(__x86_64__)
    if (std::size_t blocks = bytes.size() / 16; blocks >= 4 && __builtin_cpu_supports("pclmul")) {
        unsigned char folded[16];
        fold_crc(bytes.data(), blocks, folded);
        crc = crc32_z(0xFFFFFFFF, folded, sizeof folded);  // zlib inverts before and after
        bytes.remove_prefix(16 * blocks);
    }
#endif
    return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
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
