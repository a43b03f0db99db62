// `allocations`: who allocated the device memory in use at the peak, or at --at? One row per device, stack (or owner)
// and category, with the bytes each held then, largest first. The source is the framework's allocator events plus the
// live blocks of a snapshot that predate its history; for a snapshot without history, the memory in use when it was
// taken. Bytes of the allocator's total without a known allocation form a row without owner, so the framework's rows of
// a device sum to its total. Allocations by CUDA calls outside the framework's segments (libraries, the program itself)
// are further rows; without a framework, all are.
// Events without addresses (memory timelines) cannot be matched to their releases; they are summed by category.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analyze/facts/memory/cuda_allocations.h"
#include "analyze/facts/memory/live_memory.h"
#include "analyze/facts/moments.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct OwnedBytes {
    WideSum bytes;
    std::uint64_t count = 0;
    std::int64_t largest = 0;
};
struct AllocationKey {
    std::string owner;
    StringId category = kNoString, stack = kNoString;
    auto operator<=>(const AllocationKey&) const = default;
};

struct BytesByOwner {
    std::map<AllocationKey, OwnedBytes> held;
    WideSum known;

    void add(const AllocationKey& key, std::int64_t bytes) {
        OwnedBytes& to = held[key];
        to.bytes.add(bytes);
        ++to.count;
        to.largest = std::max(to.largest, bytes);
        known.add(bytes);
    }
};

// Adds the blocks in use on one device, except those at `known` addresses.
void add_blocks(const Trace& trace, std::int32_t device, const std::set<std::int64_t>& known, BytesByOwner& holders) {
    const MemoryBlockTable& blocks = trace.tables().memory_block;
    for (Row row = 0; row < blocks.rows; ++row) {
        if (blocks.device.value_or(row, kUnnamedDevice) != device || !blocks.bytes.has(row)) continue;
        if (trace.text(blocks.state.value_or(row, kNoString)) != "active_allocated") continue;
        if (blocks.address.has(row) && known.contains(blocks.address[row])) continue;
        StringId stack = blocks.stack.value_or(row, kNoString);
        holders.add({std::string(owner_frame(trace.text(stack))), kNoString, stack}, blocks.bytes[row]);
    }
}

void add_events(const Trace& trace, std::int32_t device, const std::vector<Row>& events, Row peak, MemoryOwners& owners,
                BytesByOwner& holders) {
    const MemoryEventTable& table = trace.tables().memory_event;
    if (!have_addresses(table, events)) {
        for (Row row : events) {
            StringId category = table.category.value_or(row, kNoString);
            OwnedBytes& to = holders.held[{std::string(trace.text(category)), category, kNoString}];
            to.bytes.add(block_bytes(table, row));
            holders.known.add(block_bytes(table, row));
            if (row == peak) break;
        }
        return;
    }
    for (Row row : live_at(table, events, peak))
        holders.add({owners.of(row), table.category.value_or(row, kNoString), table.stack.value_or(row, kNoString)},
                    block_bytes(table, row));
    std::set<std::int64_t> known;
    for (Row row : live_at(table, events, kNoRow)) known.insert(table.address[row]);
    add_blocks(trace, device, known, holders);
}

// Allocations by CUDA calls outside the framework's segments at a time. Returns their bytes.
WideSum add_calls(const Trace& trace, const std::vector<CudaAllocation>& calls, TimeNs at, MemoryOwners& owners,
                  BytesByOwner& holders) {
    const MemoryEventTable& table = trace.tables().memory_event;
    WideSum bytes;
    for (const CudaAllocation& each : calls) {
        if (each.is_segment || each.from > at || each.to <= at) continue;
        StringId category = table.category.value_or(each.event, kNoString);
        holders.add({owners.of(each.event), category, table.stack.value_or(each.event, kNoString)}, each.bytes);
        bytes.add(each.bytes);
    }
    return bytes;
}

// The last event until `at`, or kNoRow.
Row last_until(const MemoryEventTable& table, const std::vector<Row>& events, TimeNs at) {
    Row last = kNoRow;
    for (Row row : events)
        if (table.time[row] <= at) last = row;
    return last;
}

struct Moment {
    Row event = kNoRow;
    TimeNs time = 0;
    std::optional<std::int64_t> total;  // of the allocator
};

std::optional<Moment> moment_of(const MemoryEventTable& table, const std::vector<Row>& events,
                                std::optional<TimeNs> at) {
    Moment moment;
    if (at) {
        moment.event = last_until(table, events, *at);
        if (moment.event == kNoRow) return std::nullopt;
        moment.time = *at;
        moment.total = table.total_allocated.get(moment.event);
        return moment;
    }
    MemoryPeak peak = find_peak(table, events);
    moment.event = peak.event;
    moment.time = table.time[peak.event];
    if (peak.totals_known) moment.total = peak.bytes;
    return moment;
}

struct AllocationsRow {
    const Trace& trace;
    std::int32_t device;
    const AllocationKey& key;
    const OwnedBytes& held;
    std::int64_t bytes;
    std::optional<std::int64_t> whole;  // of the device
};

constexpr auto kAllocationsColumns = columns_of<AllocationsRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device == kUnnamedDevice ? kAbsent : integer(r.device); }},
    {"owner", CellType::text, Unit::none,
     "Operator or Python frame that allocated the memory; absent if allocated before the recording.",
     [](auto& r) { return text_cell(r.key.owner); }},
    {"bytes", CellType::integer, Unit::bytes, "Bytes held at the device's peak, or at --at.",
     [](auto& r) { return r.bytes; }},
    {"share_pct", CellType::real, Unit::percent, "bytes as a share of all rows of the device.",
     [](auto& r) { return r.whole ? percent(r.bytes, *r.whole) : kAbsent; }},
    {"count", CellType::integer, Unit::count, "Number of allocations; absent when unknown.",
     [](auto& r) { return r.held.count > 0 ? integer(r.held.count) : kAbsent; }},
    {"largest_bytes", CellType::integer, Unit::bytes, "Size of the largest allocation.",
     [](auto& r) { return r.held.count > 0 ? integer(r.held.largest) : kAbsent; }},
    {"category", CellType::text, Unit::none,
     "Use of the memory, if recorded; of CUDA calls outside the framework's segments: device or managed.",
     [](auto& r) { return text_cell(r.trace, r.key.category); }},
    {"stack", CellType::text, Unit::none, "Stack trace of the allocation, outermost frame first.",
     [](auto& r) { return text_cell(r.trace, r.key.stack); }},
});

void add_rows(ResultTable& result, const Trace& trace, std::int32_t device, BytesByOwner& holders,
              std::optional<std::int64_t> peak) {
    WideSum rest;
    rest.add(peak.value_or(0));
    rest.subtract(holders.known);
    if (std::int64_t bytes = rest.value().value_or(0); bytes > 0) holders.held[AllocationKey{}].bytes.add(bytes);
    std::vector<std::pair<std::int64_t, const std::pair<const AllocationKey, OwnedBytes>*>> order;
    for (const auto& entry : holders.held)
        if (auto bytes = entry.second.bytes.value(); bytes && *bytes > 0) order.emplace_back(*bytes, &entry);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto [bytes, entry] : order) {
        const auto& [key, held] = *entry;
        result.add(kAllocationsColumns, {trace, device, key, held, bytes, peak});
    }
}

Result<ResultTable> allocations_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemoryEventTable& table = trace.tables().memory_event;
    const MemoryBlockTable& blocks = trace.tables().memory_block;
    ResultTable result("allocations", kAllocationsColumns);
    result.handle_prefix = "al";
    auto devices = events_by_device(trace, facts.options().device);
    std::set<std::int32_t> without_history;
    for (Row row = 0; row < blocks.rows; ++row)
        if (auto device = blocks.device.get(row); device && !devices.contains(*device))
            if (std::int64_t only = facts.options().device; only < 0 || *device == only)
                without_history.insert(*device);
    Result<std::optional<TimeNs>> at = requested_moment(facts);
    if (!at.ok()) return at.error();
    auto of_framework = events_by_device(trace, facts.options().device, AllocationLevel::framework);
    MemoryOwners owners(trace);
    for (const auto& [device, events] : devices) {
        std::optional<Moment> moment = moment_of(table, events, *at);
        if (!moment) {
            result.notes.push_back(fmt::format("Device {}: no allocation was recorded before this time.", device));
            continue;
        }
        BytesByOwner holders;
        add_events(trace, device, events, moment->event, owners, holders);
        WideSum all;
        if (moment->total) all.add(*moment->total);
        if (!moment->total) all = holders.known;
        if (of_framework.contains(device))
            all.add(add_calls(trace, facts.get<CudaAllocations>().of(device), moment->time, owners, holders));
        add_rows(result, trace, device, holders, all.value());
    }
    for (std::int32_t device : without_history) {
        BytesByOwner holders;
        add_blocks(trace, device, {}, holders);
        add_rows(result, trace, device, holders, holders.known.value());
        result.notes.push_back(fmt::format(
            "Device {}: no history was recorded, so rows show the memory in use when the snapshot was taken; "
            "torch.cuda.memory._record_memory_history() records history.",
            device));
    }
    if (devices.empty() && without_history.empty())
        result.notes.push_back(
            "No allocator events were recorded for a device; torch.profiler records them with profile_memory=True, "
            "torch.cuda.memory._dump_snapshot() with stack traces.");
    return result;
}

}  // namespace

const Analysis kAllocations{"allocations",
                            "",
                            "Per device and stack: memory held at the peak.",
                            kAllocationsColumns,
                            allocations_table,
                            {.of_whole = true, .reads = {AnalysisOption::at}}};

}  // namespace gpuprof::tables
