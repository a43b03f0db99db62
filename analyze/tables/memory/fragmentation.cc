// `fragmentation`: how much of the memory that the allocator reserved is usable? One row per device, from the blocks of
// a memory snapshot. reserved = allocated + pending + free, to the byte.
#include <algorithm>
#include <map>

#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

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
            if (blocks.requested_bytes.has(row)) {
                device.rounding.add(bytes);
                device.rounding.subtract(blocks.requested_bytes[row]);
            }
        } else {
            device.pending.add(bytes);
        }
    }
    return devices;
}

struct FragmentationRow {
    std::int32_t ordinal;
    const FragmentedDevice& device;
    WideSum reserved, releasable;
    bool requests_known;
};

constexpr auto kFragmentationColumns = columns_of<FragmentationRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.", [](auto& r) { return r.ordinal; }},
    {"reserved_bytes", CellType::integer, Unit::bytes, "Memory reserved by the allocator: the sum of its segments.",
     [](auto& r) { return r.reserved.value(); }},
    {"allocated_bytes", CellType::integer, Unit::bytes, "Blocks in use.",
     [](auto& r) { return r.device.allocated.value(); }},
    {"rounding_bytes", CellType::integer, Unit::bytes, "Part of allocated_bytes beyond the requested sizes.",
     [](auto& r) { return r.requests_known ? integer(r.device.rounding.value()) : kAbsent; }},
    {"pending_bytes", CellType::integer, Unit::bytes, "Blocks released while a stream may still use them.",
     [](auto& r) { return r.device.pending.value(); }},
    {"free_bytes", CellType::integer, Unit::bytes, "Free blocks.", [](auto& r) { return r.device.free.value(); }},
    {"free_pct", CellType::real, Unit::percent, "free_bytes as a share of reserved_bytes.",
     [](auto& r) { return percent(r.device.free.real(), r.reserved.real()); }},
    {"largest_free_bytes", CellType::integer, Unit::bytes, "Largest free block; a larger request needs a new segment.",
     [](auto& r) { return r.device.largest_free; }},
    {"fragmented_pct", CellType::real, Unit::percent, "Share of free_bytes outside the largest free block.",
     [](auto& r) {
         double free = r.device.free.real();
         return percent(free - static_cast<double>(r.device.largest_free), free);
     }},
    {"releasable_bytes", CellType::integer, Unit::bytes,
     "Segments without used blocks; torch.cuda.empty_cache() frees them.",
     [](auto& r) { return r.releasable.value(); }},
    {"segments", CellType::integer, Unit::count, "Number of segments.",
     [](auto& r) { return r.device.segments.size(); }},
    {"free_blocks", CellType::integer, Unit::count, "Number of free blocks.",
     [](auto& r) { return r.device.free_blocks; }},
});

Result<ResultTable> fragmentation_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable table("fragmentation", kFragmentationColumns);
    table.handle_prefix = "fr";
    bool requests_known = !trace.tables().memory_block.requested_bytes.none_present();
    for (const auto& [ordinal, device] : gather_devices(trace, facts.options().device)) {
        WideSum reserved = device.allocated, releasable;
        reserved.add(device.pending);
        reserved.add(device.free);
        for (const auto& [address, segment] : device.segments)
            if (segment.used.value() == 0) releasable.add(segment.free);
        table.add(kFragmentationColumns, {ordinal, device, reserved, releasable, requests_known});
    }
    if (table.rows() == 0)
        table.notes.push_back("No allocator blocks were recorded; torch.cuda.memory._dump_snapshot() records them.");
    return table;
}

}  // namespace

const Analysis kFragmentation{"fragmentation",
                              "",
                              "Per device: reserved memory in use, lost to rounding, or free.",
                              kFragmentationColumns,
                              fragmentation_table,
                              {.of_whole = true}};

}  // namespace gpuprof::tables
