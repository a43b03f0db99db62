// Makes small traces for tests of analyses, one line per record, so that a test reads as a timeline. Times in ns.
// Host records take the thread's name; threads and the one process ("p") are made on first use.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/model/build/trace_builder.h"

namespace gpuprof {

class Draft {
public:
    static constexpr std::int64_t kNone = -1;

    Row range(std::string_view thread, TimeNs start, TimeNs end, std::string_view name, std::int64_t id = kNone) {
        return host(batch_.tables.range, thread, start, end, name, id);
    }
    Row op(std::string_view thread, TimeNs start, TimeNs end, std::string_view name, std::int64_t id = kNone) {
        return host(batch_.tables.op, thread, start, end, name, id);
    }
    Row python(std::string_view thread, TimeNs start, TimeNs end, std::string_view name) {
        auto& table = batch_.tables.python_call;
        Row row = span(table, start, end, name);
        table.thread.set(row, thread_key(thread));
        return row;
    }
    Row overhead(TimeNs start, TimeNs end, std::string_view name) {
        return span(batch_.tables.overhead, start, end, name);
    }
    Row call(std::string_view thread, TimeNs start, TimeNs end, std::string_view name, std::int64_t correlation,
             std::int64_t external_id = kNone) {
        auto& table = batch_.tables.api_call;
        Row row = host(table, thread, start, end, name, external_id);
        table.process.set(row, process());
        table.correlation.set(row, correlation);
        return row;
    }
    // Of the last call.
    void stack(std::string_view frames) {
        auto& table = batch_.tables.api_call;
        table.stack.set(static_cast<Row>(table.rows - 1), batch_.intern(frames));
    }
    Row kernel(std::int32_t device, std::int64_t stream, TimeNs start, TimeNs end, std::string_view name,
               std::int64_t correlation = kNone, std::int64_t external_id = kNone) {
        auto& table = batch_.tables.kernel;
        Row row = device_op(table, device, stream, start, end, correlation, external_id);
        table.name.set(row, batch_.intern(name));
        return row;
    }
    Row memcpy(std::int32_t device, std::int64_t stream, TimeNs start, TimeNs end, std::string_view kind,
               std::int64_t bytes, std::int64_t correlation = kNone, std::int64_t external_id = kNone) {
        auto& table = batch_.tables.memcpy;
        Row row = device_op(table, device, stream, start, end, correlation, external_id);
        table.kind.set(row, batch_.intern(kind));
        table.src.set(row, batch_.intern("pinned"));
        table.dst.set(row, batch_.intern("device"));
        table.bytes.set(row, bytes);
        return row;
    }
    Row memset(std::int32_t device, std::int64_t stream, TimeNs start, TimeNs end, std::int64_t bytes) {
        auto& table = batch_.tables.memset;
        Row row = device_op(table, device, stream, start, end, kNone, kNone);
        table.kind.set(row, batch_.intern("device"));
        table.bytes.set(row, bytes);
        return row;
    }
    // For what has no line above.
    Tables& tables() { return batch_.tables; }
    StringId intern(std::string_view text) { return batch_.intern(text); }
    StringId thread_key(std::string_view name) {
        if (threads_.insert(std::string(name)).second) {
            Row row = batch_.tables.thread.add();
            batch_.tables.thread.key.set(row, batch_.intern(name));
            batch_.tables.thread.process.set(row, process());
        }
        return batch_.intern(name);
    }

    Trace finish(std::string tool = "") {
        TraceBuilder builder(Origin{"draft", "draft", std::move(tool)});
        builder.append(std::move(batch_));
        return std::move(builder).finish();
    }

    // Key of the only process.
    StringId process() {
        if (batch_.tables.process.rows == 0) {
            Row row = batch_.tables.process.add();
            batch_.tables.process.key.set(row, batch_.intern("p"));
        }
        return batch_.intern("p");
    }

private:
    template <class Table>
    Row span(Table& table, TimeNs start, TimeNs end, std::string_view name) {
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, end - start);
        table.name.set(row, batch_.intern(name));
        return row;
    }
    template <class Table>
    Row host(Table& table, std::string_view thread, TimeNs start, TimeNs end, std::string_view name, std::int64_t id) {
        Row row = span(table, start, end, name);
        table.thread.set(row, thread_key(thread));
        if (id != kNone) table.external_id.set(row, id);
        return row;
    }
    template <class Table>
    Row device_op(Table& table, std::int32_t device, std::int64_t stream, TimeNs start, TimeNs end,
                  std::int64_t correlation, std::int64_t external_id) {
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, end - start);
        table.process.set(row, process());
        table.device.set(row, device);
        table.stream.set(row, stream);
        if (correlation != kNone) table.correlation.set(row, correlation);
        if (external_id != kNone) table.external_id.set(row, external_id);
        return row;
    }

    Batch batch_;
    std::set<std::string> threads_;
};

}  // namespace gpuprof
