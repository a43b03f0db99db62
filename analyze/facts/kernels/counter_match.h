// Which kernels of the timeline were measured: a counter row finds its kernel by name and launch shape, in the same
// recording or in another one of the same program. Tools write names differently (at::native:: or at::, (anonymous
// namespace) or <unnamed>), so kernels of one function name and shape are compared by the words in their names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/model/trace.h"

namespace gpuprof::inline facts {

// Grid and block of a launch; -1 for what was not recorded.
using GridAndBlock = std::array<std::int64_t, 6>;

template <class Table>
GridAndBlock grid_and_block(const Table& table, Row row) {
    return {table.grid_x.value_or(row, -1),  table.grid_y.value_or(row, -1),  table.grid_z.value_or(row, -1),
            table.block_x.value_or(row, -1), table.block_y.value_or(row, -1), table.block_z.value_or(row, -1)};
}

// Measured launches of one name, grid and block; `row`: of `profiled_kernel`, one of them.
struct MeasuredShape {
    StringId name = kNoString;
    Row row = kNoRow;
};

struct CounterMatch {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> shape_of;  // by row of `kernel`: in the measured shapes; empty if nothing matches
    std::vector<StringId> names;          // by shape: the name in the timeline; kNoString if it is not there
};

CounterMatch match_counters(const Trace& trace, const std::vector<MeasuredShape>& measured);

// The name in `candidates` that means the same kernel as `name`: equal, or the one whose words are most alike. kNone if
// none or several are.
std::size_t same_kernel(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace gpuprof::facts
