// What a process left, decoded: chunks of some kinds with payloads made by a target.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/model/build/trace_builder.h"
#include "io/importers/spool/spool_import.h"

namespace gpuprof::fuzz {

class Spooled {
public:
    Spooled() : decoder_(batch_, "fuzz") {}
    void take(ChunkKind kind, std::string_view payload) {
        RawChunk chunk;
        chunk.header.kind = static_cast<std::uint32_t>(kind);
        chunk.header.length = static_cast<std::uint32_t>(payload.size());
        chunk.payload.resize(payload.size());
        std::copy(payload.begin(), payload.end(), chunk.payload.data());
        decoder_.take(chunk);
    }
    // After the last chunk.
    Batch finish() && {
        decoder_.finish();
        return std::move(batch_);
    }

private:
    Batch batch_;
    SpoolDecoder decoder_;
};

// As an importer ends: sorted, linked.
inline Trace trace_of(Batch batch) {
    batch.tables.close();
    TraceBuilder builder(Origin{});
    builder.append(std::move(batch));
    return std::move(builder).finish();
}

inline std::uint64_t lost(const Batch& batch, Loss loss) { return batch.losses[static_cast<std::size_t>(loss)].count; }

}  // namespace gpuprof::fuzz
