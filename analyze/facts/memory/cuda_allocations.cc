#include "analyze/facts/memory/cuda_allocations.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "analyze/facts/facts.h"
#include "analyze/facts/memory/live_memory.h"
#include "core/model/cuda_memory.h"

namespace gpuprof::inline facts {
namespace {

template <class Map, class Key, class Value>
Value found_or(const Map& map, const Key& key, Value otherwise) {
    auto known = map.find(key);
    return known == map.end() ? otherwise : Value(known->second);
}

}  // namespace

MemoryProcesses::MemoryProcesses(const Trace& trace) : trace_(trace) {
    read_keys();
    const Tables& tables = trace.tables();
    auto add_ops = [&](const auto& table) {
        for (Row row = 0; row < table.rows; ++row)
            if (table.device.has(row) && table.process.has(row))
                users_[table.device[row]].insert(one_of(table.process[row]));
    };
    add_ops(tables.kernel);
    add_ops(tables.memcpy);
    add_ops(tables.memset);
    const MemoryEventTable& events = tables.memory_event;
    for (Row row = 0; row < events.rows; ++row)
        if (StringId process = of_thread(events.thread.value_or(row, kNoString)); process != kNoString)
            if (events.device.has(row)) users_[events.device[row]].insert(process);
}

void MemoryProcesses::read_keys() {
    const ProcessTable& processes = trace_.tables().process;
    std::map<std::int64_t, std::vector<Row>> by_pid;
    for (Row row = 0; row < processes.rows; ++row) {
        if (!processes.key.has(row) || !processes.pid.has(row)) continue;
        pids_[processes.key[row]] = processes.pid[row];
        for (Row other : by_pid[processes.pid[row]]) {
            bool hosts_differ =
                processes.host.has(row) && processes.host.has(other) && processes.host[row] != processes.host[other];
            if (!hosts_differ) one_of_.try_emplace(processes.key[row], one_of(processes.key[other]));
        }
        by_pid[processes.pid[row]].push_back(row);
    }
    const ThreadTable& threads = trace_.tables().thread;
    for (Row row = 0; row < threads.rows; ++row)
        if (threads.key.has(row) && threads.process.has(row))
            of_thread_[threads.key[row]] = one_of(threads.process[row]);
}

StringId MemoryProcesses::of_thread(StringId thread) const { return found_or(of_thread_, thread, kNoString); }

StringId MemoryProcesses::one_of(StringId key) const { return found_or(one_of_, key, key); }

std::optional<std::int64_t> MemoryProcesses::pid(StringId key) const {
    return found_or(pids_, key, std::optional<std::int64_t>());
}

StringId MemoryProcesses::of(Row event) const {
    const MemoryEventTable& table = trace_.tables().memory_event;
    if (StringId process = of_thread(table.thread.value_or(event, kNoString)); process != kNoString) return process;
    const std::set<StringId>& used_by = users(table.device.value_or(event, -1));
    return used_by.size() == 1 ? *used_by.begin() : kNoString;
}

const std::set<StringId>& MemoryProcesses::users(std::int32_t device) const {
    static const std::set<StringId> kNoProcesses;
    auto known = users_.find(device);
    return known == users_.end() ? kNoProcesses : known->second;
}

namespace {

// Live allocations of a device, by process and address; values are positions in the list of allocations.
using Live = std::map<std::pair<StringId, std::uint64_t>, std::size_t>;

class DeviceReplay {
public:
    DeviceReplay(const Trace& trace, const MemoryProcesses& processes, std::vector<CudaAllocation>& found)
        : table_(trace.tables().memory_event), trace_(trace), processes_(processes), found_(found) {}

    std::uint64_t match(const std::vector<Row>& calls) {
        Live live;
        std::uint64_t unmatched = 0;
        for (Row row : calls) {
            if (!table_.address.has(row) || !possible_time(table_.time[row])) continue;
            auto address = static_cast<std::uint64_t>(table_.address[row]);
            std::pair<StringId, std::uint64_t> key{processes_.of(row), address};
            auto open = live.find(key);
            if (open != live.end()) found_[open->second].to = table_.time[row];  // also if its release is missing
            if (open == live.end() && table_.bytes[row] <= 0) ++unmatched;
            if (open != live.end()) live.erase(open);
            if (table_.bytes[row] <= 0 || !possible_bytes(table_.bytes[row])) continue;
            live[key] = found_.size();
            CudaAllocation made;
            made.event = row;
            made.process = key.first;
            made.from = table_.time[row];
            made.address = address;
            made.bytes = table_.bytes[row];
            made.managed = trace_.text(table_.category.value_or(row, kNoString)) == kManagedMemory;
            found_.push_back(made);
        }
        return unmatched;
    }

    // Marks the allocations that contain a block. `later`: by how much the blocks' times are moved.
    void mark_segments(const std::vector<Row>& blocks, DurNs later) {
        std::vector<std::size_t> released(found_.size());
        for (std::size_t i = 0; i < found_.size(); ++i) released[i] = i;
        std::stable_sort(released.begin(), released.end(),
                         [&](std::size_t a, std::size_t b) { return found_[a].to < found_[b].to; });
        Live live;
        std::size_t next = 0, gone = 0;
        for (Row row : blocks) {
            if (table_.bytes[row] <= 0 || !table_.address.has(row) || !possible_time(table_.time[row])) continue;
            TimeNs now = table_.time[row] + later;
            for (; next < found_.size() && found_[next].from <= now; ++next)
                live[{found_[next].process, found_[next].address}] = next;
            for (; gone < released.size() && found_[released[gone]].to <= now; ++gone) forget(live, released[gone]);
            mark(live, processes_.of(row), static_cast<std::uint64_t>(table_.address[row]));
        }
    }

    // Marks the allocations at these addresses, at any time.
    void mark_addresses(const std::vector<std::uint64_t>& segments) {
        for (CudaAllocation& each : found_)
            if (std::binary_search(segments.begin(), segments.end(), each.address)) each.is_segment = true;
    }

private:
    void forget(Live& live, std::size_t allocation) {
        auto known = live.find({found_[allocation].process, found_[allocation].address});
        if (known != live.end() && known->second == allocation) live.erase(known);
    }

    void mark(const Live& live, StringId process, std::uint64_t address) {
        auto after = live.upper_bound({process, address});
        if (after == live.begin()) return;
        CudaAllocation& below = found_[std::prev(after)->second];
        bool inside = below.process == process && address - below.address < static_cast<std::uint64_t>(below.bytes);
        if (inside) below.is_segment = true;
    }

    const MemoryEventTable& table_;
    const Trace& trace_;
    const MemoryProcesses& processes_;
    std::vector<CudaAllocation>& found_;
};

// Segments of a snapshot, sorted.
std::vector<std::uint64_t> segments_of(const MemoryBlockTable& blocks, std::int32_t device) {
    std::vector<std::uint64_t> found;
    for (Row row = 0; row < blocks.rows; ++row)
        if (blocks.segment.has(row) && blocks.device.value_or(row, kUnnamedDevice) == device)
            found.push_back(static_cast<std::uint64_t>(blocks.segment[row]));
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

CudaAllocations CudaAllocations::make(const Facts& facts) {
    const Trace& trace = facts.trace();
    CudaAllocations result;
    MemoryProcesses processes(trace);
    auto framework = events_by_device(trace, facts.options().device, AllocationLevel::framework);
    for (const auto& [device, calls] : events_by_device(trace, facts.options().device, AllocationLevel::cuda)) {
        DeviceReplay replay(trace, processes, result.by_device[device]);
        result.unmatched_releases[device] = replay.match(calls);
        replay.mark_addresses(segments_of(trace.tables().memory_block, device));
        auto blocks = framework.find(device);
        if (blocks == framework.end()) continue;
        replay.mark_segments(blocks->second, 0);
        replay.mark_segments(blocks->second, kClockTolerance_ns);
    }
    return result;
}

const std::vector<CudaAllocation>& CudaAllocations::of(std::int32_t device) const {
    static const std::vector<CudaAllocation> kNone;
    auto known = by_device.find(device);
    return known == by_device.end() ? kNone : known->second;
}

}  // namespace gpuprof::facts
