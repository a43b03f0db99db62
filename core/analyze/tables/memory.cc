// `memory`: how much device memory was allocated at most, and by whom? One row per device, from the allocator events of the
// framework: the first moment at which its allocator had most allocated, and the largest allocations live then.
// peak_bytes and reserved are what the allocator reported; where it reported no totals, peak_bytes is the sum of the recorded
// allocations, and a note says so. Releases of memory that was allocated before the recording change no live allocation.
// The owner of an allocation is the innermost operator open on its thread that does more than allocate, else the
// innermost Python frame or range; where the recorder wrote a stack instead, its innermost Python frame. Events without addresses
// cannot be told apart: their sums by category stand in for the largest allocations.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analyze/facts/host_timeline.h"
#include "core/analyze/facts/stat.h"
#include "core/analyze/tables/analysis_list.h"
#include "core/analyze/tables/cells.h"
#include "core/base/readable.h"

namespace gpuprof {
namespace {

constexpr std::size_t kLargestShown = 5;

struct Peak {
    std::optional<std::int64_t> bytes;  // absent: did not fit, or no event
    Row event = kNoRow;
    bool totals_known = true;
};

// Events of which only the bytes are known, of the one device that the file is about.
constexpr std::int32_t kUnnamedDevice = -1;

// Rows of the device's events by time; of equal times in the order of the recording.
std::map<std::int32_t, std::vector<Row>> events_by_device(const Trace& trace, std::int64_t only_device) {
    const MemoryEventTable& table = trace.tables().memory_event;
    std::map<std::int32_t, std::vector<Row>> events;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.device.has(row) && table.device_type.has(row)) continue;  // memory of the host
        std::int32_t device = table.device.value_or(row, kUnnamedDevice);
        bool wanted = only_device < 0 || device == only_device;
        if (wanted && table.time.has(row) && table.bytes.has(row)) events[device].push_back(row);
    }
    for (auto& [device, rows] : events)
        std::stable_sort(rows.begin(), rows.end(), [&](Row a, Row b) { return table.time[a] < table.time[b]; });
    return events;
}

Peak find_peak(const MemoryEventTable& table, const std::vector<Row>& rows) {
    Peak peak;
    peak.totals_known = std::all_of(rows.begin(), rows.end(), [&](Row row) { return table.total_allocated.has(row); });
    WideSum recorded, most;
    for (Row row : rows) {
        recorded.add(table.bytes[row]);
        WideSum now = recorded;
        if (peak.totals_known) {
            now = WideSum{};
            now.add(table.total_allocated[row]);
        }
        if (peak.event != kNoRow && now <= most) continue;
        most = now;
        peak.event = row;
    }
    peak.bytes = most.value();
    return peak;
}

// Events whose allocation is live after the event `last`.
std::vector<Row> live_at(const MemoryEventTable& table, const std::vector<Row>& rows, Row last) {
    std::unordered_map<std::int64_t, Row> by_address;
    for (Row row : rows) {
        if (table.bytes[row] > 0) {
            by_address[table.address[row]] = row;
        } else {
            by_address.erase(table.address[row]);
        }
        if (row == last) break;
    }
    std::vector<Row> live;
    for (auto& [address, row] : by_address) live.push_back(row);
    std::sort(live.begin(), live.end(),
              [&](Row a, Row b) { return table.bytes[a] != table.bytes[b] ? table.bytes[a] > table.bytes[b] : a < b; });
    return live;
}

std::vector<Row> rows_until(const std::vector<Row>& rows, Row last) {
    auto end = std::find(rows.begin(), rows.end(), last);
    return {rows.begin(), end == rows.end() ? end : end + 1};
}

// Bytes by category after these events, the most first.
std::string categories_at(const Trace& trace, const std::vector<Row>& rows) {
    const MemoryEventTable& table = trace.tables().memory_event;
    std::map<std::string_view, WideSum> sums;
    for (Row row : rows) sums[trace.text(table.category.value_or(row, kNoString))].add(table.bytes[row]);
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

// The innermost frame of a stack that is Python's, "forward (model.py:12)"; else its innermost.
std::string_view frame_of(std::string_view stack) {
    std::string_view innermost;
    while (!stack.empty()) {
        std::size_t begin = stack.rfind(';');
        std::string_view frame = stack.substr(begin == stack.npos ? 0 : begin + 1);
        if (frame.find(".py:") != frame.npos) return frame;
        if (innermost.empty()) innermost = frame;
        stack = begin == stack.npos ? std::string_view() : stack.substr(0, begin);
    }
    return innermost;
}

// Operators that only allocate for the operator around them.
bool only_allocates(std::string_view name) {
    return name.starts_with("aten::empty") || name.starts_with("aten::new_empty") || name.starts_with("aten::resize");
}

class Owners {
public:
    explicit Owners(const Trace& trace)
        : trace_(trace), timeline_(trace, {HostKind::op, HostKind::python_call, HostKind::range}) {}

    std::string of(Row event) {
        const MemoryEventTable& table = trace_.tables().memory_event;
        StringId key = table.thread.value_or(event, kNoString);
        auto [known, added] = threads_.try_emplace(index_of(key));
        if (added) known->second = timeline_.spans(key);
        const HostThread& thread = known->second;
        std::string_view fallback;
        for (std::uint32_t at = thread.innermost_at(table.time[event]); at != kNoSpan; at = thread.spans[at].parent) {
            const HostSpan& span = thread.spans[at];
            if (span.end <= table.time[event]) continue;
            std::string_view name = trace_.text(span.name);
            if (span.kind == HostKind::op && !only_allocates(name)) return std::string(name);
            if (fallback.empty() || only_allocates(fallback)) fallback = name;
        }
        if (fallback.empty() && table.stack.has(event)) fallback = frame_of(trace_.text(table.stack[event]));
        return fallback.empty() ? "unknown owner" : std::string(fallback);
    }

private:
    const Trace& trace_;
    HostTimeline timeline_;
    std::unordered_map<std::uint32_t, HostThread> threads_;  // by key
};

// "2 x 64.0 MiB aten::mm, 32.0 MiB aten::add, and 12 more": the largest first.
std::string describe(const MemoryEventTable& table, const std::vector<Row>& live, Owners& owners) {
    struct Alike {
        std::int64_t bytes;
        std::string owner;
        std::size_t count;
    };
    std::vector<Alike> kinds;
    std::size_t described = 0;
    for (; described < live.size(); ++described) {
        std::int64_t bytes = table.bytes[live[described]];
        std::string owner = owners.of(live[described]);
        auto known = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const Alike& a) { return a.bytes == bytes && a.owner == owner; });
        if (known != kinds.end()) {
            ++known->count;
        } else if (kinds.size() < kLargestShown) {
            kinds.push_back({bytes, std::move(owner), 1});
        } else {
            break;
        }
    }
    std::string text;
    for (const Alike& kind : kinds) {
        std::string count = kind.count > 1 ? fmt::format("{} x ", kind.count) : "";
        text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", count,
                            readable_bytes(static_cast<double>(kind.bytes)), kind.owner);
    }
    if (described < live.size()) text += fmt::format(", and {} more", live.size() - described);
    return text;
}

constexpr ResultColumn kColumns[] = {
    {"device", CellType::integer, Unit::none, "Device ordinal."},
    {"peak_bytes", CellType::integer, Unit::bytes, "Most that the framework's allocator had allocated at once."},
    {"at_ns", CellType::integer, Unit::ns, "When that was reached first, from the start of the window."},
    {"allocated", CellType::integer, Unit::bytes, "Part of it allocated in the recording; the rest was there before."},
    {"reserved", CellType::integer, Unit::bytes, "What the allocator had reserved from the device then."},
    {"largest", CellType::text, Unit::none, "The largest allocations live then, with the operator that made them."},
};

Result<ResultTable> run(const Facts& facts) {
    const Trace& trace = facts.trace();
    const MemoryEventTable& table = trace.tables().memory_event;
    ResultTable result("memory", kColumns);
    result.handle_prefix = "mem";
    auto devices = events_by_device(trace, facts.options().device);
    if (devices.empty()) {
        result.notes.push_back(
            "No allocator events on a device were recorded; torch.profiler records them with profile_memory=True.");
        return result;
    }
    Owners owners(trace);
    for (const auto& [device, rows] : devices) {
        Peak peak = find_peak(table, rows);
        bool named = std::any_of(rows.begin(), rows.end(), [&](Row row) { return table.address.has(row); });
        std::vector<Row> counted = named ? live_at(table, rows, peak.event) : rows_until(rows, peak.event);
        WideSum allocated;
        for (Row row : counted) allocated.add(table.bytes[row]);
        std::string largest = named ? describe(table, counted, owners) : categories_at(trace, counted);
        WideSum at;  // instants are not part of the window and may lie anywhere
        at.add(table.time[peak.event]);
        at.subtract(trace.zero());
        result.add_row({
            device == kUnnamedDevice ? kAbsent : integer(device),
            integer(peak.bytes),
            integer(at.value()),
            integer(allocated.value()),
            integer(table.total_reserved.get(peak.event)),
            text_cell(largest),
        });
        if (device == kUnnamedDevice)
            result.notes.push_back("The file does not say which device it is about.");
        else if (!peak.totals_known)
            result.notes.push_back(
                fmt::format("Device {}: the allocator's totals were not recorded; peak_bytes counts only what was "
                            "allocated in the recording.",
                            device));
    }
    return result;
}

}  // namespace

const Analysis kMemory{"memory", "", "Per device: peak of allocated memory and who holds it.", kColumns, run};

}  // namespace gpuprof
