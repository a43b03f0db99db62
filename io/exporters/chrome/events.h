// Writes the rows of a trace as events of Chrome's trace format, with the categories and arguments of PyTorch's Kineto,
// so that every viewer and script written for those files can read them. One function per table; the caller has opened
// the array. Times are microseconds with three decimals since `base`, which keeps them exact in readers that use
// doubles. Specs: the Trace Event Format document of the Chromium project; libkineto/src/output_json.cpp of
// pytorch/kineto.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>

#include "core/base/text/json_writer.h"
#include "core/model/trace.h"

namespace gpuprof::inline exporters {

// The numbers by which Chrome's trace format names processes and threads. A trace names them by keys, which may be any
// text; here each key gets its process or thread id if that is known and unique, otherwise an unused number.
struct HostId {
    std::int64_t pid = 0, tid = 0;
};

class ChromeIdentity {
public:
    explicit ChromeIdentity(const Trace& trace);

    // For a key of `process` or `thread`; a key without a row has pid -1, Kineto's number for unknown processes.
    std::int64_t process(StringId key) const;
    HostId thread(StringId key) const;

private:
    std::map<StringId, std::int64_t> processes_;
    std::map<StringId, HostId> threads_;
};

class ChromeEvents {
public:
    ChromeEvents(const Trace& trace, TimeNs base, JsonWriter& json);

    // Every event of the trace, metadata first.
    void write();

private:
    // Fields of an event; open() leaves the writer inside its "args" object.
    struct Head {
        std::string_view phase, category, name;
        std::int64_t pid, tid;
        TimeNs time;
        DurNs dur = -1;  // none
    };
    void open(const Head& head);
    void close();
    void metadata(std::string_view what, std::int64_t pid, std::int64_t tid, std::string_view key,
                  std::string_view value);

    void names();
    void host_calls();
    void ops();
    void ranges();
    void python_calls();
    void overheads();
    void memory_events();
    void flows();
    void kernels();
    void memcpys();
    void memsets();
    void syncs();
    void device_ranges();
    void profiler_span();

    template <class Table>
    Head device_head(const Table& table, Row row, std::string_view category, std::string_view name) const;
    template <class Table>
    void device_args(const Table& table, Row row);
    void launch_arrow(Row launch, const Head& device_op);
    void flow_end(std::string_view phase, std::string_view category, std::int64_t id, std::int64_t pid,
                  std::int64_t tid, TimeNs time);
    void collective_args(const std::unordered_map<std::int64_t, Row>& known, const Column<std::int64_t>& id, Row row);
    void rank_args(StringId text);
    template <class T>
    void number(std::string_view key, const Column<T>& column, Row row) {
        if (column.has(row)) json_.member(key, static_cast<std::int64_t>(column[row]));
    }
    void text(std::string_view key, const Column<StringId>& column, Row row);
    void json_text(std::string_view key, const Column<StringId>& column, Row row);
    void shape(std::string_view key, const Column<std::int32_t>& x, const Column<std::int32_t>& y,
               const Column<std::int32_t>& z, Row row);
    void time(std::string_view key, std::int64_t ns);
    // The same for fields that readers replace by a number of the event itself when they are missing.
    template <class T>
    void number_or_null(std::string_view key, const Column<T>& column, Row row) {
        if (column.has(row)) return json_.member(key, static_cast<std::int64_t>(column[row]));
        json_.key(key);
        json_.null();
    }
    // A span on a host thread.
    template <class Table>
    Head host_head(const Table& table, Row row, std::string_view category) const {
        HostId id = host(table.thread, row);
        return {"X", category, text_of(table.name, row), id.pid, id.tid, table.start[row], table.dur[row]};
    }
    HostId host(const Column<StringId>& thread, Row row) const;
    std::string_view text_of(const Column<StringId>& column, Row row, std::string_view otherwise = {}) const;

    const Trace& trace_;
    const Tables& tables_;
    TimeNs base_;
    JsonWriter& json_;
    ChromeIdentity ids_;
    std::unordered_map<std::int64_t, Row> device_collectives_, host_collectives_;  // by correlation, by external id
    struct RankArgs {
        std::string list;
        std::int32_t start = 0, stride = 0;  // of a list that is cut
    };
    std::unordered_map<StringId, RankArgs> rank_lists_;  // by the text of `ranks`
};

}  // namespace gpuprof::exporters
