// Capture files made of a fuzzer's bytes: whatever the bytes are, the checksums are right, since no fuzzer guesses those.
//
//   | choice | length, 2 bytes | payload |...     low half of choice: the kind; bit 4: a sequence number is missing before it;
//                                                bit 5: the payload is damaged; bit 6: the numbers begin again
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/format/chunk.h"
#include "io/importers/importer.h"
#include "tests/fuzz/choices.h"

namespace gpuprof::fuzz {

inline constexpr ChunkKind kChunkKinds[16] = {ChunkKind::spool_process,
                                              ChunkKind::spool_activity,
                                              ChunkKind::spool_names,
                                              ChunkKind::spool_nvtx,
                                              ChunkKind::spool_clock,
                                              ChunkKind::spool_lost,
                                              ChunkKind::spool_refused,
                                              ChunkKind::spool_facts,
                                              ChunkKind::begin,
                                              ChunkKind::table,
                                              ChunkKind::end,
                                              ChunkKind::table,
                                              ChunkKind::table,
                                              ChunkKind{4},
                                              ChunkKind{24},
                                              ChunkKind{0xffffffff}};

inline std::string chunks_of(std::string_view bytes) {
    std::string file;
    std::uint32_t sequence = 0;
    for (Choices choices(bytes); !choices.empty();) {
        std::uint32_t choice = choices.byte();
        std::string_view payload = choices.take(choices.two_bytes());
        if ((choice & 0x10u) != 0) ++sequence;
        if ((choice & 0x40u) != 0) sequence = 0;
        file += encode_header(kChunkKinds[choice % 16], sequence++, payload);
        file += payload;
        if ((choice & 0x20u) != 0 && !payload.empty()) file.back() = static_cast<char>(file.back() ^ 1);
    }
    return file;
}

// A recording: by the first byte one of chunks, or the bytes behind it as they are. Nothing when no importer takes it.
inline std::optional<Trace> any_recording(std::string_view bytes) {
    Choices choices(bytes);
    bool chunks = choices.byte() % 2 == 1;
    std::string file = chunks ? chunks_of(choices.rest()) : std::string(choices.rest());
    Result<std::unique_ptr<Source>> source = memory_source("fuzz", file);
    if (!source) return {};
    Result<Trace> trace = import_trace(**source);
    if (!trace) return {};
    return std::move(trace).value();
}

}  // namespace gpuprof::fuzz
