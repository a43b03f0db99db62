// `fragmentation`: how much of the memory that the allocator reserved is usable? One row per device, from the blocks of
// a memory snapshot. reserved = allocated + pending + free, to the byte.
#include <algorithm>
#include <map>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

constexpr ResultColumn kFragmentationColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"reserved_bytes", CellType::integer, Unit::bytes, "Memory reserved by the allocator: the sum of its segments."},
    {"allocated_bytes", CellType::integer, Unit::bytes, "Blocks in use."},
    {"rounding_bytes", CellType::integer, Unit::bytes, "Part of allocated_bytes beyond the requested sizes."},
    {"pending_bytes", CellType::integer, Unit::bytes, "Blocks released while a stream may still use them."},
    {"free_bytes", CellType::integer, Unit::bytes, "Free blocks."},
    {"free_pct", CellType::real, Unit::percent, "free_bytes as a share of reserved_bytes."},
    {"largest_free_bytes", CellType::integer, Unit::bytes, "Largest free block; a larger request needs a new segment."},
    {"fragmented_pct", CellType::real, Unit::percent, "Share of free_bytes outside the largest free block."},
    {"releasable_bytes", CellType::integer, Unit::bytes,
     "Segments without used blocks; torch.cuda.empty_cache() frees them."},
    {"segments", CellType::integer, Unit::count, "Number of segments."},
    {"free_blocks", CellType::integer, Unit::count, "Number of free blocks."},
};

struct Segment {
    WideSum free, used;
};
struct FragmentedDevice {
    WideSum allocated, rounding, pending, free;
    std::int64_t largest_free = 0;
    std::uint64_t free_blocks = 0;
    std::map<std::int64_t, Segment> segments;  // by address
};

std::map<std::int32_t, FragmentedDevice> gather_devices(const Trace& trace, std::int64_t only) {
    const MemoryBlockTable& blocks = trace.tables().memory_block;
    std::map<std::int32_t, FragmentedDevice> devices;
    for (Row row = 0; row < blocks.rows; ++row) {
        auto ordinal = blocks.device.get(row);
        if (!ordinal || !blocks.bytes.has(row) || (only >= 0 && *ordinal != only)) continue;
        FragmentedDevice& device = devices[*ordinal];
        std::int64_t bytes = blocks.bytes[row];
        std::string_view state = trace.text(blocks.state.value_or(row, kNoString));
        Segment& segment = device.segments[blocks.segment.value_or(row, 0)];
        (state == "inactive" ? segment.free : segment.used).add(bytes);
        if (state == "inactive") {
            device.free.add(bytes);
            device.largest_free = std::max(device.largest_free, bytes);
            ++device.free_blocks;
        } else if (state == "active_allocated") {
            device.allocated.add(bytes);
            if (blocks.requested_bytes.has(row))
                device.rounding.add(bytes), device.rounding.subtract(blocks.requested_bytes[row]);
        } else {
            device.pending.add(bytes);
        }
    }
    return devices;
}

Result<ResultTable> fragmentation_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("fragmentation", kFragmentationColumns);
    table.handle_prefix = "fr";
    for (const auto& [ordinal, device] : gather_devices(trace, facts.options().device)) {
        WideSum reserved = device.allocated, releasable;
        reserved.add(device.pending);
        reserved.add(device.free);
        for (const auto& [address, segment] : device.segments)
            if (segment.used.value() == 0) releasable.add(segment.free);
        double free = device.free.real(), largest = static_cast<double>(device.largest_free);
        table.add_row(
            {integer(ordinal), integer(reserved.value()), integer(device.allocated.value()),
             trace.tables().memory_block.requested_bytes.none_present() ? kAbsent : integer(device.rounding.value()),
             integer(device.pending.value()), integer(device.free.value()), percent(free, reserved.real()),
             integer(device.largest_free), percent(free - largest, free), integer(releasable.value()),
             integer(device.segments.size()), integer(device.free_blocks)});
    }
    if (table.rows() == 0)
        table.notes.push_back("No allocator blocks were recorded; torch.cuda.memory._dump_snapshot() records them.");
    return table;
}

}  // namespace

const Analysis kFragmentation{"fragmentation", "", "Per device: reserved memory in use, lost to rounding, or free.",
                              kFragmentationColumns, fragmentation_table};

}  // namespace gpuprof::tables
