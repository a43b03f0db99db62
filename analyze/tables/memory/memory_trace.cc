// `memory_trace`: every allocation and release of device memory in order: blocks over time, with who allocated them.
// Its rows add up to `allocations` at any time: what is held at t are the allocations with start_ns <= t that are not
// released by then, and held_bytes of the last row until t minus these is memory without a known allocation.
// Rows without start_ns are blocks of a snapshot that its history does not explain: they were held all the time.
// Without addresses (memory timelines), a release cannot be matched: no row has a duration, and sums by category of the
// bytes until t are what is held.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "analyze/facts/memory/cuda_allocations.h"
#include "analyze/facts/memory/live_memory.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "analyze/tables/event_list.h"

namespace gpuprof::inline tables {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

struct MemoryTraceEntry {
    std::optional<TimeNs> time;
    TimeNs end = kNever;  // of an allocation
    std::int64_t bytes = 0;
    Row event = kNoRow;  // kNoRow: a block
    Row block = kNoRow;
    bool is_call = false;  // a CUDA call outside the framework's segments
    std::optional<std::int64_t> held = {};
};

struct MemoryTraceRow {
    const Trace& trace;
    std::int32_t device;
    const MemoryTraceEntry& entry;
    Cell start;
    const std::string& owner;

    StringId category() const {
        return entry.event == kNoRow ? kNoString
                                     : trace.tables().memory_event.category.value_or(entry.event, kNoString);
    }
    StringId stack() const {
        const Tables& tables = trace.tables();
        return entry.event == kNoRow ? tables.memory_block.stack.value_or(entry.block, kNoString)
                                     : tables.memory_event.stack.value_or(entry.event, kNoString);
    }
};

constexpr auto kMemoryTraceColumns = columns_of<MemoryTraceRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device == kUnnamedDevice ? kAbsent : integer(r.device); }},
    {"start_ns", CellType::integer, Unit::ns,
     "Time of the event, relative to the window start; absent for memory held since before the recording.",
     [](auto& r) { return r.start; }},
    {"dur_ns", CellType::integer, Unit::ns,
     "Of an allocation: time until its release; absent if that was not recorded or cannot be matched.",
     [](auto& r) { return r.entry.end == kNever ? kAbsent : integer(span_between(*r.entry.time, r.entry.end)); }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes allocated (above 0) or released (below 0).",
     [](auto& r) { return r.entry.bytes; }},
    {"held_bytes", CellType::integer, Unit::bytes, "Bytes held on the device after it.",
     [](auto& r) { return r.entry.held; }},
    {"owner", CellType::text, Unit::none, "Operator or Python frame that allocated the memory; absent for releases.",
     [](auto& r) { return text_cell(r.owner); }},
    {"category", CellType::text, Unit::none, "Use of the memory, if recorded.",
     [](auto& r) { return text_cell(r.trace, r.category()); }},
    {"stack", CellType::text, Unit::none, "Stack trace of the allocation, outermost frame first.",
     [](auto& r) { return r.entry.bytes > 0 ? text_cell(r.trace, r.stack()) : kAbsent; }},
});

// The events of one device, each allocation with its end, as live_at() matches them.
std::vector<MemoryTraceEntry> entries_of(const MemoryEventTable& table, const std::vector<Row>& events, bool named) {
    std::vector<MemoryTraceEntry> entries;
    std::unordered_map<std::int64_t, std::size_t> open;  // by address
    for (Row row : events) {
        MemoryTraceEntry& entry = entries.emplace_back();
        entry.time = table.time[row];
        entry.bytes = block_bytes(table, row);
        entry.event = row;
        if (!named) continue;
        auto made = open.find(table.address[row]);
        if (made != open.end()) entries[made->second].end = *entry.time;
        if (table.bytes[row] > 0)
            open[table.address[row]] = entries.size() - 1;
        else if (made != open.end())
            open.erase(made);
    }
    return entries;
}

// Blocks in use in a snapshot that its history does not contain.
void add_older_blocks(const Trace& trace, std::int32_t device, const std::vector<Row>& events,
                      std::vector<MemoryTraceEntry>& entries) {
    const MemoryEventTable& table = trace.tables().memory_event;
    const MemoryBlockTable& blocks = trace.tables().memory_block;
    std::set<std::int64_t> known;
    for (Row row : live_at(table, events, kNoRow)) known.insert(table.address[row]);
    std::vector<MemoryTraceEntry> older;
    for (Row row = 0; row < blocks.rows; ++row) {
        if (blocks.device.value_or(row, kUnnamedDevice) != device || !blocks.bytes.has(row)) continue;
        if (trace.text(blocks.state.value_or(row, kNoString)) != "active_allocated") continue;
        if (blocks.address.has(row) && known.contains(blocks.address[row])) continue;
        older.push_back({.time = {}, .bytes = blocks.bytes[row], .block = row});
    }
    entries.insert(entries.begin(), older.begin(), older.end());
}

// CUDA calls outside the framework's segments, with their releases.
void add_trace_calls(const std::vector<CudaAllocation>& calls, std::vector<MemoryTraceEntry>& entries) {
    for (const CudaAllocation& each : calls) {
        if (each.is_segment) continue;
        entries.push_back({each.from, each.to, each.bytes, each.event, kNoRow, true});
        if (each.to != kNever) entries.push_back({each.to, kNever, -each.bytes, each.event, kNoRow, true});
    }
    std::stable_sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.time < b.time; });
}

// What is held after each event: the allocator's own totals if all events have them, else the sum of what is known.
void add_totals(const MemoryEventTable& table, bool named, bool totals_known, std::vector<MemoryTraceEntry>& entries) {
    WideSum known, calls;
    std::optional<std::int64_t> total;
    std::unordered_map<std::int64_t, std::int64_t> open;  // bytes by address
    for (MemoryTraceEntry& entry : entries) {
        if (entry.is_call) {
            calls.add(entry.bytes);
        } else if (entry.event == kNoRow) {
            known.add(entry.bytes);
        } else if (!named) {
            known.add(entry.bytes);
        } else {
            auto [at, added] = open.try_emplace(table.address[entry.event], 0);
            known.subtract(at->second);
            at->second = std::max<std::int64_t>(0, entry.bytes);
            known.add(at->second);
        }
        if (entry.event != kNoRow && !entry.is_call && totals_known) total = table.total_allocated[entry.event];
        WideSum held = calls;
        total ? held.add(*total) : held.add(known);
        entry.held = held.value();
    }
}

Result<ResultTable> memory_trace_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemoryEventTable& table = trace.tables().memory_event;
    ResultTable result("memory_trace", kMemoryTraceColumns);
    EventList list(facts, result);
    MemoryOwners owners(trace);
    auto of_framework = events_by_device(trace, facts.options().device, AllocationLevel::framework);
    auto devices = events_by_device(trace, facts.options().device);
    bool unmatched = false;
    for (const auto& [device, events] : devices) {
        bool named = have_addresses(table, events);
        unmatched |= !named;
        std::vector<MemoryTraceEntry> entries = entries_of(table, events, named);
        if (named) add_older_blocks(trace, device, events, entries);
        if (of_framework.contains(device)) add_trace_calls(facts.get<CudaAllocations>().of(device), entries);
        add_totals(table, named, find_peak(table, events).totals_known, entries);
        for (const MemoryTraceEntry& entry : entries) {
            if (!list.wants_row()) continue;
            std::string owner;
            if (entry.event == kNoRow)
                owner = owner_frame(trace.text(trace.tables().memory_block.stack.value_or(entry.block, kNoString)));
            else if (!named)
                owner = trace.text(table.category.value_or(entry.event, kNoString));
            else if (entry.bytes > 0)
                owner = owners.of(entry.event);
            Cell start = entry.time ? list.since_start(*entry.time) : kAbsent;
            result.add(kMemoryTraceColumns, {trace, device, entry, start, owner});
        }
    }
    if (devices.empty())
        result.notes.push_back(
            "No allocator events were recorded for a device; torch.profiler records them with profile_memory=True, "
            "torch.cuda.memory._record_memory_history() and _dump_snapshot() with stack traces.");
    if (unmatched) result.notes.push_back("The file has no addresses, so releases cannot be matched to allocations.");
    return result;
}

}  // namespace

const Analysis kMemoryTrace{"memory_trace",
                            "",
                            "Every allocation and release of device memory in order.",
                            kMemoryTraceColumns,
                            memory_trace_table,
                            {.of_whole = true}};

}  // namespace gpuprof::tables
