// What each chunk of events contains, by frame: a page adds the chunks inside a stretch and reads only those at its
// ends. A chunk has few frames, because programs repeat themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/column.h"
#include "present/view/call_stacks.h"
#include "present/view/levels.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {

// One row per chunk and frame, in order of chunks.
struct ChunkSums {
    Row rows = 0;
    Column<std::int64_t> chunk;  // blob
    Column<std::int64_t> frame;
    Column<std::int64_t> count;  // events
    Column<std::int64_t> time;   // ns, the sum of their durations
    Column<std::int64_t> bytes;  // copied or filled; absent if unknown for an event
};

ChunkSums chunk_sums(const std::vector<LaneParts>& lanes, const Scene& scene, const Tables& tables,
                     const CallStacks& stacks);

// Bytes of a row of memcpy or memset; absent for other tables.
std::optional<std::int64_t> bytes_of(const Tables& tables, SliceTable table, Row row);

}  // namespace gpuprof::view
