// `memory`: how much device memory was allocated at the peak, and by whom? One row per device, from the framework's
// allocator events: the first time at which allocated memory peaked, and the largest allocations live then.
// peak_bytes and reserved are the allocator's own totals; if it reported none, peak_bytes is the sum of the recorded
// allocations, and a note says so. Releases of memory allocated before the recording affect no live allocation.
// Events without addresses cannot be matched to their releases; their sums by category replace the largest allocations.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "analyze/facts/memory/live_memory.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"
#include "core/base/text/readable.h"

namespace gpuprof::inline tables {
namespace {

constexpr std::size_t kMaxShown = 5;

std::vector<Row> rows_until(const std::vector<Row>& rows, Row last) {
    auto end = std::find(rows.begin(), rows.end(), last);
    return {rows.begin(), end == rows.end() ? end : end + 1};
}

// Bytes by category after these events, largest first.
std::string categories_at(const Trace& trace, const std::vector<Row>& rows) {
    const MemoryEventTable& table = trace.tables().memory_event;
    std::map<std::string_view, WideSum> sums;
    for (Row row : rows) sums[trace.text(table.category.value_or(row, kNoString))].add(block_bytes(table, row));
    std::vector<std::pair<std::int64_t, std::string_view>> shown;
    for (auto& [category, sum] : sums)
        if (std::int64_t bytes = sum.value().value_or(0); bytes > 0) shown.emplace_back(bytes, category);
    std::sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (auto [bytes, category] : shown)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", readable_bytes(static_cast<double>(bytes)),
                            category.empty() ? "of unknown use" : category);
    return text;
}

// "2 x 64.0 MiB aten::mm, 32.0 MiB aten::add, and 12 more", largest first.
std::string describe(const MemoryEventTable& table, const std::vector<Row>& live, MemoryOwners& owners) {
    struct IdenticalBlocks {
        std::int64_t bytes;
        std::string owner;
        std::size_t count;
    };
    std::vector<IdenticalBlocks> kinds;
    std::size_t described = 0;
    for (; described < live.size(); ++described) {
        std::int64_t bytes = block_bytes(table, live[described]);
        std::string owner = owners.of(live[described]);
        if (owner.empty()) owner = "unknown owner";
        auto known = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const IdenticalBlocks& a) { return a.bytes == bytes && a.owner == owner; });
        if (known != kinds.end()) {
            ++known->count;
        } else if (kinds.size() < kMaxShown) {
            kinds.push_back({bytes, std::move(owner), 1});
        } else {
            break;
        }
    }
    std::string text;
    for (const IdenticalBlocks& kind : kinds) {
        std::string count = kind.count > 1 ? fmt::format("{} x ", kind.count) : "";
        text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", count,
                            readable_bytes(static_cast<double>(kind.bytes)), kind.owner);
    }
    if (described < live.size()) text += fmt::format(", and {} more", live.size() - described);
    return text;
}

struct MemoryRow {
    std::int32_t device;
    const MemoryPeak& peak;
    WideSum at, allocated;
    std::optional<std::int64_t> reserved;
    std::string_view largest;
};

constexpr auto kMemoryColumns = columns_of<MemoryRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device == kUnnamedDevice ? kAbsent : integer(r.device); }},
    {"peak_bytes", CellType::integer, Unit::bytes, "Peak memory allocated by the framework's allocator.",
     [](auto& r) { return r.peak.bytes; }},
    {"at_ns", CellType::integer, Unit::ns, "Time at which the peak was first reached, relative to the window start.",
     [](auto& r) { return r.at.value(); }},
    {"allocated", CellType::integer, Unit::bytes,
     "Part of peak_bytes allocated during the recording; the rest was allocated before.",
     [](auto& r) { return r.allocated.value(); }},
    {"reserved", CellType::integer, Unit::bytes, "Memory reserved by the allocator at that time.",
     [](auto& r) { return r.reserved; }},
    {"largest", CellType::text, Unit::none, "Largest allocations live at that time, with the operator that made them.",
     [](auto& r) { return text_cell(r.largest); }},
});

Result<ResultTable> memory_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemoryEventTable& table = trace.tables().memory_event;
    ResultTable result("memory", kMemoryColumns);
    result.handle_prefix = "mem";
    auto devices = events_by_device(trace, facts.options().device);
    if (devices.empty()) {
        result.notes.push_back(
            "No allocator events were recorded for a device; torch.profiler records them with profile_memory=True.");
        return result;
    }
    MemoryOwners owners(trace);
    for (const auto& [device, rows] : devices) {
        MemoryPeak peak = find_peak(table, rows);
        bool named = have_addresses(table, rows);
        std::vector<Row> counted = named ? live_at(table, rows, peak.event) : rows_until(rows, peak.event);
        WideSum allocated;
        for (Row row : counted) allocated.add(block_bytes(table, row));
        std::string largest = named ? describe(table, counted, owners) : categories_at(trace, counted);
        WideSum at;  // instants are not part of the window and may lie anywhere
        at.add(table.time[peak.event]);
        at.subtract(trace.zero());
        result.add(kMemoryColumns, {device, peak, at, allocated, table.total_reserved.get(peak.event), largest});
        if (device == kUnnamedDevice)
            result.notes.push_back("The file does not name its device.");
        else if (!peak.totals_known)
            result.notes.push_back(
                fmt::format("Device {}: the allocator's totals were not recorded; peak_bytes counts only memory "
                            "allocated during the recording.",
                            device));
    }
    return result;
}

}  // namespace

const Analysis kMemory{"memory",       "",           "Per device: peak allocated memory and its largest owners.",
                       kMemoryColumns, memory_table, {.of_whole = true}};

}  // namespace gpuprof::tables
