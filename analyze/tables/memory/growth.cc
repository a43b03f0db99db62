// `growth`: whose device memory grows? One row per device and stack (or owner): bytes held at two moments, which are those
// of --between, or halfway through the device's events and their end. Memory allocated at the start and kept has not
// grown; a list that gets longer, or a leak, has. A release is credited to the site of its allocation; memory allocated
// before the recording is unknown. Events without addresses are summed by category. Allocations by CUDA calls outside the
// framework's segments are rows too.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyze/facts/memory/cuda_allocations.h"
#include "analyze/facts/memory/live_memory.h"
#include "analyze/facts/moments.h"
#include "analyze/facts/stat.h"
#include "analyze/tables/analysis_list.h"
#include "analyze/tables/cells.h"

namespace gpuprof::inline tables {
namespace {

struct GrowthKey {
    std::string owner;
    StringId category = kNoString, stack = kNoString;
    auto operator<=>(const GrowthKey&) const = default;
};
struct MemoryTrend {
    WideSum from, to;
    std::uint64_t allocations = 0, releases = 0;
};
using MemoryTrends = std::map<GrowthKey, MemoryTrend>;

// Counts an event until the second moment.
void count(MemoryTrend& trend, std::int64_t bytes, TimeNs time, Interval moments) {
    trend.to.add(bytes);
    if (time <= moments.start) trend.from.add(bytes);
    ++(bytes > 0 ? trend.allocations : trend.releases);
}

// Halfway through the events, and their end. Times in a damaged file may be arbitrarily far apart.
Interval usual_moments(const MemoryEventTable& table, const std::vector<Row>& events) {
    TimeNs first = table.time[events.front()], last = table.time[events.back()];
    std::uint64_t half = static_cast<std::uint64_t>(span_between(first, last)) / 2;
    return {static_cast<TimeNs>(static_cast<std::uint64_t>(first) + half), last};
}

MemoryTrends follow(const Trace& trace, const std::vector<Row>& events, Interval moments, MemoryOwners& owners) {
    const MemoryEventTable& table = trace.tables().memory_event;
    bool named = have_addresses(table, events);
    MemoryTrends trends;
    struct OpenAllocation {
        MemoryTrend* trend;
        std::int64_t bytes;
    };
    std::unordered_map<std::int64_t, OpenAllocation> open;  // by address
    for (Row row : events) {
        TimeNs time = table.time[row];
        if (time > moments.end) break;
        std::int64_t bytes = block_bytes(table, row);
        StringId category = table.category.value_or(row, kNoString);
        if (!named) {
            count(trends[{std::string(trace.text(category)), category, kNoString}], bytes, time, moments);
        } else if (bytes > 0) {
            MemoryTrend& trend = trends[{owners.of(row), category, table.stack.value_or(row, kNoString)}];
            count(trend, bytes, time, moments);
            open[table.address[row]] = {&trend, bytes};
        } else if (auto made = open.find(table.address[row]); made != open.end()) {
            count(*made->second.trend, -made->second.bytes, time, moments);
            open.erase(made);
        }
    }
    return trends;
}

void follow_calls(const Trace& trace, const std::vector<CudaAllocation>& calls, Interval moments, MemoryOwners& owners,
                  MemoryTrends& trends) {
    const MemoryEventTable& table = trace.tables().memory_event;
    for (const CudaAllocation& each : calls) {
        if (each.is_segment || each.from > moments.end) continue;
        StringId category = table.category.value_or(each.event, kNoString);
        MemoryTrend& trend = trends[{owners.of(each.event), category, table.stack.value_or(each.event, kNoString)}];
        count(trend, each.bytes, each.from, moments);
        if (each.to <= moments.end) count(trend, -each.bytes, each.to, moments);
    }
}

struct GrowthEntry {
    std::int64_t grown, from, to;
    const MemoryTrends::value_type* entry;
};

struct GrowthRow {
    const Trace& trace;
    std::int32_t device;
    const GrowthEntry& of;
    Interval moments;

    const GrowthKey& key() const { return of.entry->first; }
    const MemoryTrend& trend() const { return of.entry->second; }
};

constexpr auto kGrowthColumns = columns_of<GrowthRow>({
    {"device", CellType::integer, Unit::none, "Device ordinal.",
     [](auto& r) { return r.device == kUnnamedDevice ? kAbsent : integer(r.device); }},
    {"owner", CellType::text, Unit::none, "Operator or Python frame that allocated the memory; absent when unknown.",
     [](auto& r) { return text_cell(r.key().owner); }},
    {"grown_bytes", CellType::integer, Unit::bytes, "to_bytes - from_bytes.", [](auto& r) { return r.of.grown; }},
    {"from_bytes", CellType::integer, Unit::bytes,
     "Bytes held at the first moment: by default halfway between the device's first and last event.",
     [](auto& r) { return r.of.from; }},
    {"to_bytes", CellType::integer, Unit::bytes, "Bytes held at the second moment: by default after the last event.",
     [](auto& r) { return r.of.to; }},
    {"allocations", CellType::integer, Unit::count, "Number of recorded allocations until the second moment.",
     [](auto& r) { return r.trend().allocations; }},
    {"releases", CellType::integer, Unit::count, "Number of recorded releases of these allocations until then.",
     [](auto& r) { return r.trend().releases; }},
    {"category", CellType::text, Unit::none, "Use of the memory, if recorded.",
     [](auto& r) { return text_cell(r.trace, r.key().category); }},
    {"stack", CellType::text, Unit::none, "Stack trace of the allocation, outermost frame first.",
     [](auto& r) { return text_cell(r.trace, r.key().stack); }},
    {"from_ns", CellType::integer, Unit::ns, "The first moment, relative to the window start.",
     [](auto& r) { return span_between(r.trace.zero(), r.moments.start); }},
    {"to_ns", CellType::integer, Unit::ns, "The second moment, likewise.",
     [](auto& r) { return span_between(r.trace.zero(), r.moments.end); }},
});

Result<ResultTable> growth_table(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable result("growth", kGrowthColumns);
    result.handle_prefix = "gr";
    auto devices = events_by_device(trace, facts.options().device);
    if (devices.empty())
        result.notes.push_back(
            "No allocator events were recorded for a device; torch.profiler records them with profile_memory=True, "
            "torch.cuda.memory._record_memory_history() and _dump_snapshot() with stack traces.");
    Result<std::optional<Interval>> requested = requested_moments(facts);
    if (!requested.ok()) return requested.error();
    auto of_framework = events_by_device(trace, facts.options().device, AllocationLevel::framework);
    MemoryOwners owners(trace);
    for (const auto& [device, events] : devices) {
        Interval moments = requested->value_or(usual_moments(trace.tables().memory_event, events));
        MemoryTrends trends = follow(trace, events, moments, owners);
        if (of_framework.contains(device))
            follow_calls(trace, facts.get<CudaAllocations>().of(device), moments, owners, trends);
        std::vector<GrowthEntry> order;
        for (const auto& entry : trends) {
            WideSum grown = entry.second.to;
            grown.subtract(entry.second.from);
            auto by = grown.value(), from = entry.second.from.value(), to = entry.second.to.value();
            if (by && from && to && (*by != 0 || *to != 0)) order.push_back({*by, *from, *to, &entry});
        }
        std::stable_sort(order.begin(), order.end(), [](const GrowthEntry& a, const GrowthEntry& b) {
            return a.grown != b.grown ? a.grown > b.grown : a.to > b.to;
        });
        for (const GrowthEntry& each : order) result.add(kGrowthColumns, {trace, device, each, moments});
    }
    return result;
}

}  // namespace

const Analysis kGrowth{"growth",       "",           "Per device and stack: growth of memory held between two moments.",
                       kGrowthColumns, growth_table, {.of_whole = true, .reads = {AnalysisOption::between}}};

}  // namespace gpuprof::tables
