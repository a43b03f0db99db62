// The frame of the capture file: a sequence of chunks, each with a header with its own checksum and a payload.
//
//   0        8      12       16         20            24           28
//   | magic  | kind | length | sequence | payload crc | header crc | payload ... |
//
// All numbers are little-endian. `length` is that of the payload. `sequence` counts the chunks of a part from 0; a part
// starts with a chunk of kind `begin`. The header's CRC covers the 24 bytes before it, so a length is trusted only if
// it is intact. The CRC is CRC-32 as in zlib and gzip. Payloads: core/format/table_chunk.h. Specified in
// docs/reference/capture-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::inline format {

inline constexpr std::string_view kChunkMagic{"\x89gpuprof", 8};
inline constexpr std::size_t kChunkHeaderBytes = 28;
// No chunk is larger; a header that claims more is damaged.
inline constexpr std::uint32_t kMaxPayloadBytes = 256u << 20;

enum class ChunkKind : std::uint32_t {
    begin = 1,  // the first chunk of a part: facts about the file
    table = 2,  // rows of one table
    end = 3,    // the last chunk of a part that was closed properly: its row counts
    // Raw data that a collector writes while a program runs; core/format/spool.h.
    spool_process = 16,
    spool_activity = 17,
    spool_names = 18,
    spool_nvtx = 19,
    spool_clock = 20,
    spool_lost = 21,
    spool_refused = 22,
    spool_facts = 23,
    spool_windows = 24,
    spool_counter_note = 25,
    spool_counter_image = 26,
    spool_counter_skips = 27,
    spool_counter_hung = 28,
    spool_cubin = 29,
    spool_stall_reasons = 30,
    spool_stall_read = 31,
    spool_stall_failure = 32,
    spool_sass_counts = 33,
    spool_graph_nodes = 34,
    spool_steps = 38,
};

struct ChunkHeader {
    std::uint32_t kind = 0;  // a ChunkKind, or one of a newer version
    std::uint32_t length = 0;
    std::uint32_t sequence = 0;
    std::uint32_t payload_crc = 0;

    bool is(ChunkKind known) const { return kind == static_cast<std::uint32_t>(known); }
};

std::uint32_t checksum(std::string_view bytes);

// The 28 bytes of the header of `payload`.
std::string encode_header(ChunkKind kind, std::uint32_t sequence, std::string_view payload);
// The header at the start of `bytes`; absent if there are too few bytes, or magic, checksum or length is wrong.
std::optional<ChunkHeader> decode_header(std::string_view bytes);

}  // namespace gpuprof::format
