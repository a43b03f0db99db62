#include "analyze/facts/memory/live_memory.h"

#include <algorithm>

#include "analyze/facts/stat.h"
#include "core/model/cuda_memory.h"

namespace gpuprof::inline facts {
namespace {

// Operators that only allocate for the enclosing operator.
bool only_allocates(std::string_view name) {
    return name.starts_with("aten::empty") || name.starts_with("aten::new_empty") || name.starts_with("aten::resize");
}

}  // namespace

std::map<std::int32_t, std::vector<Row>> events_by_device(const Trace& trace, std::int64_t only_device,
                                                          AllocationLevel level) {
    const MemoryEventTable& table = trace.tables().memory_event;
    std::map<std::int32_t, std::vector<Row>> events, of_cuda;
    for (Row row = 0; row < table.rows; ++row) {
        if (!table.device.has(row) && table.device_type.has(row)) continue;  // host memory
        std::int32_t device = table.device.value_or(row, kUnnamedDevice);
        bool wanted = only_device < 0 || device == only_device;
        if (!wanted || !table.time.has(row) || !table.bytes.has(row)) continue;
        (is_cuda_call(trace, row) ? of_cuda : events)[device].push_back(row);
    }
    if (level == AllocationLevel::cuda) events.swap(of_cuda);
    if (level == AllocationLevel::highest) events.merge(of_cuda);  // keeps the framework's where both exist
    for (auto& [device, rows] : events)
        std::stable_sort(rows.begin(), rows.end(), [&](Row a, Row b) { return table.time[a] < table.time[b]; });
    return events;
}

bool have_addresses(const MemoryEventTable& table, const std::vector<Row>& events) {
    return std::any_of(events.begin(), events.end(), [&](Row row) { return table.address.has(row); });
}

MemoryPeak find_peak(const MemoryEventTable& table, const std::vector<Row>& events) {
    MemoryPeak peak;
    peak.totals_known =
        std::all_of(events.begin(), events.end(), [&](Row row) { return table.total_allocated.has(row); });
    WideSum recorded, most;
    for (Row row : events) {
        recorded.add(block_bytes(table, row));
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

std::vector<Row> live_at(const MemoryEventTable& table, const std::vector<Row>& events, Row last) {
    std::unordered_map<std::int64_t, Row> by_address;
    for (Row row : events) {
        if (table.bytes[row] > 0) {
            by_address[table.address[row]] = row;
        } else {
            by_address.erase(table.address[row]);
        }
        if (row == last) break;
    }
    std::vector<Row> live;
    for (auto& [address, row] : by_address) live.push_back(row);
    std::sort(live.begin(), live.end(), [&](Row a, Row b) {
        std::int64_t of_a = block_bytes(table, a), of_b = block_bytes(table, b);
        return of_a != of_b ? of_a > of_b : a < b;
    });
    return live;
}

std::string_view owner_frame(std::string_view stack) {
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

MemoryOwners::MemoryOwners(const Trace& trace)
    : trace_(trace), timeline_(trace, {HostKind::op, HostKind::python_call, HostKind::range}) {
    const Tables& tables = trace.tables();
    std::map<StringId, std::int64_t> pids;
    for (Row row = 0; row < tables.process.rows; ++row)
        if (tables.process.key.has(row) && tables.process.pid.has(row))
            pids[tables.process.key[row]] = tables.process.pid[row];
    for (Row row = 0; row < tables.thread.rows; ++row) {
        auto pid = pids.find(tables.thread.process.value_or(row, kNoString));
        if (pid == pids.end() || !tables.thread.tid.has(row) || !tables.thread.key.has(row)) continue;
        ThreadId id{pid->second, tables.thread.tid[row]};
        keys_[id].push_back(tables.thread.key[row]);
        ids_[tables.thread.key[row]] = id;
    }
}

std::string_view MemoryOwners::on_thread(StringId key, TimeNs time) {
    auto [known, added] = threads_.try_emplace(index_of(key));
    if (added) known->second = timeline_.spans(key);
    const HostThread& thread = known->second;
    std::string_view fallback;
    for (std::uint32_t at = thread.innermost_at(time); at != kNoSpan; at = thread.spans[at].parent) {
        const HostSpan& span = thread.spans[at];
        if (span.end <= time) continue;
        std::string_view name = trace_.text(span.name);
        if (span.kind == HostKind::op && !only_allocates(name)) return name;
        if (fallback.empty() || only_allocates(fallback)) fallback = name;
    }
    return fallback;
}

std::string MemoryOwners::of(Row event) {
    const MemoryEventTable& table = trace_.tables().memory_event;
    StringId key = table.thread.value_or(event, kNoString);
    std::string_view owner = on_thread(key, table.time[event]);
    if (auto id = ids_.find(key); owner.empty() && id != ids_.end() && is_cuda_call(trace_, event)) {
        const std::vector<StringId>& keys = keys_[id->second];
        if (keys.size() == 2) owner = on_thread(keys[0] == key ? keys[1] : keys[0], table.time[event]);
    }
    if (owner.empty() && table.stack.has(event)) owner = owner_frame(trace_.text(table.stack[event]));
    return std::string(owner);
}

}  // namespace gpuprof::facts
