// Shared by the parts of the nsys importer: the strings of the file, and the identities of processes and devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/model/build/trace_builder.h"
#include "io/importers/nsys/nccl_calls.h"
#include "io/importers/row_values.h"
#include "io/importers/source/database.h"

namespace gpuprof::inline importers::nsys {

class Reader {
public:
    Reader(const Database& database, Batch& batch) : database_(database), batch_(batch) {}

    // All tables, referenced ones first.
    void read();
    // The offset of every time in the file; absent if the file has none.
    std::optional<TimeNs> session_start() const { return session_start_; }
    std::string recorder() const;
    // The view or virtual table that it needed, which is not evaluated; "" if none.
    std::string computed_table() const;

private:
    struct Text {
        std::string text;
        StringId id = kNoString;
    };
    struct Host {  // a thread
        StringId process, thread;
    };
    using Device = std::pair<std::int64_t, std::int64_t>;  // pid, CUDA's device number in that process

    Scan scan(const char* table) {
        used_.insert(table);
        return Scan(database_, table, batch_);
    }
    // Of the table StringIds; kNoString for an unknown id.
    StringId string(std::optional<std::int64_t> id);
    std::string_view text(std::optional<std::int64_t> id);
    // A serialised GlobalId: 16 bits host, 24 bits process id, 8 bits domain, 24 bits thread id.
    static std::int64_t pid_of(std::int64_t global) { return (global >> 24) & 0xFFFFFF; }
    StringId process(std::int64_t global);
    Host host(std::int64_t global);
    std::int32_t device(std::int64_t pid, std::int32_t ordinal) const;
    // Start and end of a row; absent, and counted, if the row has no usable start.
    std::optional<std::pair<TimeNs, TimeNs>> times(Scan& scan, Scan::Field start, Scan::Field end);

    // A new row for a row of the file with a span; absent if times() is.
    template <class Table>
    std::optional<Row> span_row(Table& table, Scan& scan, Scan::Field start, Scan::Field end) {
        auto at = times(scan, start, end);
        if (!at) return std::nullopt;
        return add_span(table, at->first, span_between(at->first, at->second));
    }

    void read_strings();
    void read_session();
    void read_devices();
    void read_older_devices();
    void read_names();
    void read_diagnostics();
    void read_metrics();
    void read_network();
    void count_unread();

    void read_kernels();
    void read_graphs();
    void read_copies();
    void read_fills();
    void read_graph_nodes();
    void read_page_faults();
    void read_syncs();
    void read_allocations();

    struct Stack {
        StringId text = kNoString;
        std::int32_t depth = 0;
    };
    using Stacks = std::unordered_map<std::int64_t, Stack>;  // by the id of a chain
    enum class ChainsOf { samples, calls };
    Stacks stacks_in(const char* table, ChainsOf of);
    // "symbol (module)" or "symbol (file:line)"; "?" for an unknown symbol.
    StringId frame(std::optional<std::int64_t> symbol, std::string_view place);

    void read_calls();
    void read_os_calls();
    void read_scheduling();
    void read_context_switches();
    void read_overhead(const char* table);
    void read_payload_schemas();
    void read_ranges();
    void read_libraries();
    void read_graph_marks();
    void read_mpi();
    // A range of a library's call; absent if the row has no time.
    std::optional<Row> library_range(Scan& scan, const char* domain, StringId name, Scan::Field start, Scan::Field end,
                                     Scan::Field thread);
    void read_stacks();

    // Fills the columns that all device work has.
    struct DeviceColumns;
    template <class Table>
    std::optional<Row> device_row(Table& table, Scan& scan, const DeviceColumns& columns);

    const Database& database_;
    Batch& batch_;
    std::optional<TimeNs> session_start_;
    std::unordered_map<std::int64_t, Text> strings_;
    std::unordered_map<std::int64_t, Host> hosts_;          // by global id
    std::map<std::int64_t, StringId> processes_, threads_;  // by pid; by pid << 24 | tid
    std::map<Device, std::int32_t> gpus_;
    std::map<std::string, std::string> facts_;
    std::string host_name_;
    NvtxPayloads payloads_;
    NcclCalls nccl_;
    std::set<std::string> used_;
};

}  // namespace gpuprof::importers::nsys
