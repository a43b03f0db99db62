// `growth`: whose device memory grows? One row per device and stack (or owner): bytes held halfway through the device's
// events and at their end. Memory allocated at the start and kept has not grown; a list that gets longer, or a leak,
// has. A release is credited to the site of its allocation; memory allocated before the recording is unknown. Events
// without addresses are summed by category.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/analyze/facts/live_memory.h"
#include "core/analyze/facts/stat.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"

namespace gpuprof {
namespace {

constexpr ResultColumn kColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"owner", CellType::text, Unit::none, "Operator or Python frame that allocated the memory; absent when unknown."},
    {"grown_bytes", CellType::integer, Unit::bytes, "end_bytes - halfway_bytes."},
    {"halfway_bytes", CellType::integer, Unit::bytes, "Bytes held halfway between the device's first and last event."},
    {"end_bytes", CellType::integer, Unit::bytes, "Bytes held after the last event."},
    {"allocations", CellType::integer, Unit::count, "Number of recorded allocations."},
    {"releases", CellType::integer, Unit::count, "Number of recorded releases of these allocations."},
    {"category", CellType::text, Unit::none, "Use of the memory, if recorded."},
    {"stack", CellType::text, Unit::none, "Stack trace of the allocation, outermost frame first."},
};

struct Key {
    std::string owner;
    StringId category = kNoString, stack = kNoString;
    auto operator<=>(const Key&) const = default;
};
struct MemoryTrend {
    WideSum halfway, end;
    std::uint64_t allocations = 0, releases = 0;
};
using MemoryTrends = std::map<Key, MemoryTrend>;

void count(MemoryTrend& course, std::int64_t bytes, bool first_half) {
    course.end.add(bytes);
    if (first_half) course.halfway.add(bytes);
    ++(bytes > 0 ? course.allocations : course.releases);
}

MemoryTrends follow(const Trace& trace, const std::vector<Row>& events, MemoryOwners& owners) {
    const MemoryEventTable& table = trace.tables().memory_event;
    bool named = have_addresses(table, events);
    // Times in a damaged file may be arbitrarily far apart.
    auto since_first = [&](Row row) {
        return static_cast<std::uint64_t>(table.time[row]) - static_cast<std::uint64_t>(table.time[events.front()]);
    };
    std::uint64_t half = since_first(events.back()) / 2;
    MemoryTrends courses;
    struct OpenAllocation {
        MemoryTrend* course;
        std::int64_t bytes;
    };
    std::unordered_map<std::int64_t, OpenAllocation> open;  // by address
    for (Row row : events) {
        std::int64_t bytes = block_bytes(table, row);
        bool first_half = since_first(row) <= half;
        StringId category = table.category.value_or(row, kNoString);
        if (!named) {
            count(courses[{std::string(trace.text(category)), category, kNoString}], bytes, first_half);
        } else if (bytes > 0) {
            MemoryTrend& course = courses[{owners.of(row), category, table.stack.value_or(row, kNoString)}];
            count(course, bytes, first_half);
            open[table.address[row]] = {&course, bytes};
        } else if (auto made = open.find(table.address[row]); made != open.end()) {
            count(*made->second.course, -made->second.bytes, first_half);
            open.erase(made);
        }
    }
    return courses;
}

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    ResultTable result("growth", kColumns);
    result.handle_prefix = "gr";
    auto devices = events_by_device(trace, facts.options().device);
    if (devices.empty())
        result.notes.push_back(
            "No allocator events were recorded for a device; torch.profiler records them with profile_memory=True, "
            "torch.cuda.memory._record_memory_history() and _dump_snapshot() with stack traces.");
    MemoryOwners owners(trace);
    for (const auto& [device, events] : devices) {
        MemoryTrends courses = follow(trace, events, owners);
        struct GrowthEntry {
            std::int64_t grown, halfway, end;
            const MemoryTrends::value_type* entry;
        };
        std::vector<GrowthEntry> order;
        for (const auto& entry : courses) {
            WideSum grown = entry.second.end;
            grown.subtract(entry.second.halfway);
            auto by = grown.value(), halfway = entry.second.halfway.value(), end = entry.second.end.value();
            if (by && halfway && end && (*by != 0 || *end != 0)) order.push_back({*by, *halfway, *end, &entry});
        }
        std::stable_sort(order.begin(), order.end(), [](const GrowthEntry& a, const GrowthEntry& b) {
            return a.grown != b.grown ? a.grown > b.grown : a.end > b.end;
        });
        for (const GrowthEntry& row : order) {
            const auto& [key, course] = *row.entry;
            result.add_row({device == kUnnamedDevice ? kAbsent : integer(device), text_cell(key.owner),
                            integer(row.grown), integer(row.halfway), integer(row.end), integer(course.allocations),
                            integer(course.releases), text_cell(trace, key.category), text_cell(trace, key.stack)});
        }
    }
    return result;
}

}  // namespace

const Analysis kGrowth{"growth", "", "Per device and stack: growth of memory held from halfway to the end.", kColumns,
                       run};

}  // namespace gpuprof
