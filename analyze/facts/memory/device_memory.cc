#include "analyze/facts/memory/device_memory.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>

#include "analyze/facts/facts.h"
#include "analyze/facts/memory/cuda_allocations.h"
#include "analyze/facts/memory/live_memory.h"
#include "core/base/text/readable.h"
#include "core/schema/metrics.h"

namespace gpuprof::inline facts {
namespace {

std::optional<std::int64_t> bytes_of_mib(double mib) {
    if (!std::isfinite(mib) || mib < 0 || mib * kMib > static_cast<double>(kMaxDeviceBytes)) return std::nullopt;
    return std::llround(mib * kMib);
}

bool earlier(const std::pair<TimeNs, std::int64_t>& a, const std::pair<TimeNs, std::int64_t>& b) {
    return a.first < b.first;
}

// When a recorder was at work in a process.
struct Coverage {
    TimeNs from = std::numeric_limits<TimeNs>::max(), to = std::numeric_limits<TimeNs>::min();
    void add(TimeNs start, TimeNs end) {
        from = std::min(from, start);
        to = std::max(to, end);
    }
};
using Coverages = std::map<StringId, Coverage>;  // by process

template <class Table>
void cover(Coverages& to, const Table& table, const auto& process_of) {
    for (Row row = 0; row < table.rows; ++row)
        if (table.start.has(row) && table.dur.has(row))
            to[process_of(row)].add(table.start[row], table.start[row] + table.dur[row]);
}

class DeviceMemoryReader {
public:
    explicit DeviceMemoryReader(const Facts& facts)
        : trace_(facts.trace()), only_device_(facts.options().device), processes_(trace_) {
        cover_calls();
        cover_framework();
    }

    void read_samples() {
        const SampleTable& samples = trace_.tables().sample;
        StringId used = trace_.strings().find(spec_of(Metric::mem_used).name),
                 total = trace_.strings().find(spec_of(Metric::mem_total).name),
                 busy = trace_.strings().find(spec_of(Metric::util_gpu).name);
        std::map<std::int32_t, std::set<std::int64_t>> seen, sized;  // pids by device
        std::map<std::int32_t, std::map<TimeNs, std::map<std::int64_t, std::int64_t>>> polls;
        for (Row row = 0; row < samples.rows; ++row) {
            StringId metric = samples.metric.value_or(row, kNoString);
            std::int32_t device = samples.device.value_or(row, kUnnamedDevice);
            if (metric == kNoString || !samples.time.has(row) || !samples.value.has(row) || !wanted(device)) continue;
            if (!possible_time(samples.time[row])) continue;
            if (samples.pid.has(row) && (metric == busy || metric == used)) seen[device].insert(samples.pid[row]);
            if (metric != used && metric != total) continue;
            std::optional<std::int64_t> bytes = bytes_of_mib(samples.value[row]);
            if (!bytes) continue;
            DeviceMemory& memory = found_[device];
            if (metric == total) {
                memory.total = bytes;
            } else if (samples.pid.has(row)) {
                sized[device].insert(samples.pid[row]);
                polls[device][samples.time[row]][samples.pid[row]] = *bytes;
            } else {
                memory.used.emplace_back(samples.time[row], *bytes);
            }
        }
        for (auto& [device, memory] : found_) {
            std::stable_sort(memory.used.begin(), memory.used.end(), earlier);
            for (auto& [time, bytes] : polls[device]) memory.polls.push_back({time, std::move(bytes)});
            for (std::int64_t pid : seen[device])
                if (!sized[device].contains(pid)) memory.pid_without_bytes = pid;
        }
        read_sizes();
    }

    void read_framework() {
        const MemoryEventTable& table = trace_.tables().memory_event;
        for (const auto& [device, events] : events_by_device(trace_, only_device_, AllocationLevel::framework)) {
            std::map<StringId, std::vector<Row>> by_process;
            for (Row row : events)
                if (possible_time(trace_.tables().memory_event.time[row]))
                    by_process[processes_.of(row)].push_back(row);
            for (const auto& [process, rows] : by_process) {
                ProcessMemory& to = memory_of(device, process);
                to.has_addresses = have_addresses(table, rows);
                to.has_totals = std::all_of(rows.begin(), rows.end(), [&](Row row) {
                    return table.total_allocated.has(row) && possible_bytes(table.total_allocated[row]);
                });
                if (to.has_totals)
                    for (Row row : rows) to.allocated.set(table.time[row], table.total_allocated[row]);
                else
                    add_blocks(to, rows);
                for (Row row : rows)
                    if (auto reserved = table.total_reserved.get(row); reserved && possible_bytes(*reserved))
                        to.reserved.set(table.time[row], *reserved);
                TimeNs until = std::max(table.time[rows.back()], framework_[process].to);
                to.allocated.known_until(until);
                to.reserved.known_until(until);
            }
        }
    }

    void read_calls(const CudaAllocations& allocations) {
        for (const auto& [device, made] : allocations.by_device) {
            std::map<StringId, std::vector<const CudaAllocation*>> by_process;
            for (const CudaAllocation& each : made) by_process[each.process].push_back(&each);
            for (const auto& [process, each] : by_process) add_calls(memory_of(device, process), each);
            found_[device].unmatched_releases = allocations.unmatched_releases.at(device);
        }
    }

    // Recorded processes without a known allocation use memory too.
    std::map<std::int32_t, DeviceMemory> finish() {
        for (auto& [device, memory] : found_) {
            for (StringId process : processes_.users(device)) memory_of(device, process);
            std::set<std::int64_t> listed;
            for (const ProcessPoll& poll : memory.polls)
                for (auto [pid, bytes] : poll.bytes) listed.insert(pid);
            for (ProcessMemory& process : memory.processes) limit(process);
            for (ProcessMemory& process : memory.processes)
                if (process.process == kNoString && listed.size() == 1 && memory.processes.size() == 1) {
                    process.pid = *listed.begin();
                    process.is_assumed = true;
                }
        }
        return std::move(found_);
    }

private:
    bool wanted(std::int32_t device) const { return only_device_ < 0 || device == only_device_; }

    void cover_calls() {
        const Tables& tables = trace_.tables();
        auto own = [this](const auto& table) {
            return [&](Row row) { return processes_.one_of(table.process.value_or(row, kNoString)); };
        };
        cover(calls_, tables.kernel, own(tables.kernel));
        cover(calls_, tables.memcpy, own(tables.memcpy));
        cover(calls_, tables.memset, own(tables.memset));
        cover(calls_, tables.api_call, own(tables.api_call));
    }

    void cover_framework() {
        const Tables& tables = trace_.tables();
        auto by_thread = [this](const auto& table) {
            return [&](Row row) { return processes_.of_thread(table.thread.value_or(row, kNoString)); };
        };
        cover(framework_, tables.op, by_thread(tables.op));
        cover(framework_, tables.python_call, by_thread(tables.python_call));
    }

    void read_sizes() {
        const DeviceTable& devices = trace_.tables().device;
        for (Row row = 0; row < devices.rows; ++row) {
            auto device = devices.device.get(row);
            auto bytes = devices.memory_bytes.get(row);
            if (!device || !bytes || !possible_bytes(*bytes)) continue;
            auto known = found_.find(*device);
            if (known != found_.end() && !known->second.total) known->second.total = bytes;
        }
    }

    // What was allocated during the recording; releases of older memory do not count.
    void add_blocks(ProcessMemory& to, const std::vector<Row>& rows) {
        const MemoryEventTable& table = trace_.tables().memory_event;
        std::unordered_map<std::int64_t, std::int64_t> open;  // bytes by address
        to.allocated.set(table.time[rows.front()], 0);
        for (Row row : rows) {
            std::int64_t bytes = block_bytes(table, row);
            if (bytes > kMaxDeviceBytes || bytes < -kMaxDeviceBytes) continue;
            if (to.has_addresses && !table.address.has(row)) continue;
            if (!to.has_addresses) {
                to.allocated.change(table.time[row], bytes);
                continue;
            }
            std::int64_t& held = open[table.address[row]];
            std::int64_t now = std::max<std::int64_t>(bytes, 0);
            to.allocated.change(table.time[row], now - held);
            held = now;
        }
    }

    void add_calls(ProcessMemory& to, const std::vector<const CudaAllocation*>& made) {
        struct Step {
            TimeNs time;
            HeldBytes* of;
            std::int64_t by;
        };
        std::vector<Step> steps;
        Coverage covered = calls_[to.process];
        for (const CudaAllocation* each : made) {
            HeldBytes* of = each->is_segment ? &to.segments : &to.calls;
            if (each->managed) of = &to.managed;
            bool is_released = each->to != std::numeric_limits<TimeNs>::max();
            covered.add(each->from, is_released ? each->to : each->from);
            steps.push_back({each->from, of, each->bytes});
            if (is_released) steps.push_back({each->to, of, -each->bytes});
            to.finds_segments |= each->is_segment;
        }
        std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.time < b.time; });
        for (HeldBytes* each : {&to.segments, &to.calls, &to.managed}) each->set(covered.from, 0);
        for (const Step& step : steps) step.of->change(step.time, step.by);
        for (HeldBytes* each : {&to.segments, &to.calls, &to.managed}) each->known_until(covered.to);
    }

    void limit(ProcessMemory& process) {
        if (process.process == kNoString) return;
        Coverage active;
        for (const Coverages* each : {&calls_, &framework_})
            if (auto known = each->find(process.process);
                known != each->end() && known->second.from <= known->second.to)
                active.add(known->second.from, known->second.to);
        for (const HeldBytes* each : {&process.allocated, &process.calls})
            if (!each->empty()) active.add(each->steps().front().first, each->steps().back().first);
        if (active.from <= active.to) {
            process.active_from = active.from;
            process.active_to = active.to;
        }
    }

    ProcessMemory& memory_of(std::int32_t device, StringId process) {
        std::vector<ProcessMemory>& all = found_[device].processes;
        auto known = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.process == process; });
        if (known != all.end()) return *known;
        ProcessMemory& made = all.emplace_back();
        made.process = process;
        made.pid = processes_.pid(process);
        return made;
    }

    const Trace& trace_;
    std::int64_t only_device_;
    MemoryProcesses processes_;
    Coverages calls_, framework_;
    std::map<std::int32_t, DeviceMemory> found_;
};

}  // namespace

void HeldBytes::set(TimeNs time, std::int64_t bytes) {
    if (!steps_.empty() && steps_.back().first == time)
        steps_.back().second = bytes;
    else
        steps_.emplace_back(time, bytes);
    until_ = std::max(until_, time);
}

void HeldBytes::change(TimeNs time, std::int64_t by) {
    std::int64_t now = 0;
    if (!__builtin_add_overflow(steps_.back().second, by, &now)) set(time, now);
}

std::optional<std::int64_t> HeldBytes::at(TimeNs time) const {
    if (steps_.empty() || time < steps_.front().first || time > until_) return std::nullopt;
    return step_at(time).second;
}

TimeNs HeldBytes::set_at(TimeNs time) const { return step_at(time).first; }

const std::pair<TimeNs, std::int64_t>& HeldBytes::step_at(TimeNs time) const {
    auto after = std::upper_bound(steps_.begin(), steps_.end(), std::pair{time, std::int64_t{0}}, earlier);
    return *std::prev(after);
}

DeviceMemories DeviceMemories::make(const Facts& facts) {
    DeviceMemoryReader reader(facts);
    reader.read_samples();
    reader.read_framework();
    reader.read_calls(facts.get<CudaAllocations>());
    return {reader.finish()};
}

}  // namespace gpuprof::facts
