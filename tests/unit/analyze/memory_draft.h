// Rows of the tables that an account of device memory reads, one line each.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {

inline constexpr std::int64_t kMiB = 1 << 20;

class MemoryDraft {
public:
    void process(std::string_view key, std::int64_t pid) {
        Tables& tables = draft_.tables();
        Row row = tables.process.add();
        tables.process.key.set(row, draft_.intern(key));
        tables.process.pid.set(row, pid);
        row = tables.thread.add();
        tables.thread.key.set(row, draft_.intern(std::string(key) + "/1"));
        tables.thread.process.set(row, draft_.intern(key));
    }
    // At work on the device from `from` to `to`.
    void work(std::string_view key, std::int32_t device, TimeNs from, TimeNs to) {
        for (TimeNs time : {from, to - 1}) {
            Row row = draft_.kernel(device, 7, time, time + 1, "k");
            draft_.tables().kernel.process.change(row, draft_.intern(key));
        }
    }
    // The framework's recorder notes operators while it is at work.
    void op(std::string_view key, TimeNs from, TimeNs to, std::string_view name) {
        OpTable& ops = draft_.tables().op;
        Row row = ops.add();
        ops.start.set(row, from);
        ops.dur.set(row, to - from);
        ops.name.set(row, draft_.intern(name));
        ops.thread.set(row, draft_.intern(std::string(key) + "/1"));
    }
    void used(std::int32_t device, TimeNs time, std::int64_t bytes, std::optional<std::int64_t> pid = {}) {
        sample("mem.used", device, time, static_cast<double>(bytes) / kMiB, pid);
    }
    void sample(std::string_view metric, std::int32_t device, TimeNs time, double value,
                std::optional<std::int64_t> pid = {}) {
        SampleTable& table = draft_.tables().sample;
        Row row = table.add();
        table.time.set(row, time);
        table.device.set(row, device);
        table.metric.set(row, draft_.intern(metric));
        table.value.set(row, value);
        if (pid) table.pid.set(row, *pid);
    }
    // By a CUDA call; bytes < 0 releases. An empty key: the process is unknown.
    Row call(std::string_view key, std::int32_t device, TimeNs time, std::int64_t address, std::int64_t bytes,
             std::string_view kind = "device") {
        Row row = event(key, device, time, address, bytes);
        draft_.tables().memory_event.category.set(row, draft_.intern(kind));
        return row;
    }
    Row block(std::string_view key, std::int32_t device, TimeNs time, std::int64_t address, std::int64_t bytes,
              std::optional<std::int64_t> allocated, std::optional<std::int64_t> reserved) {
        Row row = event(key, device, time, address, bytes);
        if (allocated) draft_.tables().memory_event.total_allocated.set(row, *allocated);
        if (reserved) draft_.tables().memory_event.total_reserved.set(row, *reserved);
        return row;
    }
    Draft& draft() { return draft_; }
    Trace finish() { return draft_.finish(); }

private:
    Row event(std::string_view key, std::int32_t device, TimeNs time, std::int64_t address, std::int64_t bytes) {
        MemoryEventTable& table = draft_.tables().memory_event;
        Row row = table.add();
        table.time.set(row, time);
        if (!key.empty()) table.thread.set(row, draft_.intern(std::string(key) + "/1"));
        table.device_type.set(row, 1);
        table.device.set(row, device);
        table.address.set(row, address);
        table.bytes.set(row, bytes);
        return row;
    }
    Draft draft_;
};

}  // namespace gpuprof
