#include "analyze/facts/memory/memory_processes.h"

#include <vector>

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
    static const std::set<StringId> kNobody;
    auto known = users_.find(device);
    return known == users_.end() ? kNobody : known->second;
}

}  // namespace gpuprof::facts
