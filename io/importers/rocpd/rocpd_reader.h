// Shared by the parts of the importer of AMD's databases: the recording of one GUID of a rocpd file, and which numbers
// its GPUs have. rpd.cc reads the older format with the same places.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/model/build/trace_builder.h"
#include "io/importers/host_places.h"
#include "io/importers/row_values.h"
#include "io/importers/source/database.h"

namespace gpuprof::inline importers::rocpd {

// The texts of a table of strings, interned when they are first used.
class Texts {
public:
    void read(Scan& rows, const char* column);
    StringId id(std::optional<std::int64_t> number, Batch& batch);
    std::string_view text(std::optional<std::int64_t> number) const;

private:
    struct Entry {
        std::string text;
        StringId id = kNoString;
    };
    std::unordered_map<std::int64_t, Entry> entries_;
};

// Start and end of the current row; absent, and counted, if it has no usable start.
std::optional<std::pair<TimeNs, TimeNs>> times_of(Scan& rows, Scan::Field start, Scan::Field end, Batch& batch);

// A row of `table` for a row of the file with a span.
template <class Table>
std::optional<Row> span_row(Table& table, Scan& rows, Scan::Field start, Scan::Field end, Batch& batch) {
    auto at = times_of(rows, start, end, batch);
    if (!at) return std::nullopt;
    return add_span(table, at->first, span_between(at->first, at->second));
}

// The numbers of GPUs over all recordings of a file: a GPU keeps its number among the GPUs of its machine, unless
// another machine's GPU has it.
class GpuNumbers {
public:
    // Whether the GPU is new.
    std::pair<std::int32_t, bool> number(const std::string& host, std::int64_t agent, std::int32_t wanted);

private:
    std::map<std::pair<std::string, std::int64_t>, std::int32_t> known_;
    std::set<std::int32_t> taken_;
};

class Reader {
public:
    Reader(const Database& database, Batch& batch, HostPlaces& places, GpuNumbers& gpus, std::string guid)
        : database_(database), batch_(batch), places_(places), gpus_(gpus), guid_(std::move(guid)) {}

    // Fails if the schema is one that this reader does not know.
    Status read(const std::string& file);

private:
    struct Event {
        std::int64_t category = -1, stack = 0;
    };
    struct Agent {
        bool gpu = false;
        std::int32_t type_index = 0;
        std::int64_t index = 0;
        std::string name, facts;
    };
    struct Symbol {
        StringId name = kNoString;
        std::optional<std::int32_t> registers;
    };
    struct Counter {
        StringId name = kNoString, unit = kNoString;
        std::int64_t agent = -1;
    };
    using Values = std::vector<std::pair<std::int64_t, double>>;  // sums by counter
    struct Place {
        StringId process = kNoString, thread = kNoString;
    };

    // The table of this GUID: rocpd_NAME_GUID.
    Scan scan(std::string_view name) { return Scan(database_, "rocpd_" + std::string(name) + guid_, batch_); }
    void read_names();
    void read_agents();
    void read_symbols();
    void read_events();
    void read_counter_values();

    struct DeviceColumns;
    template <class Table>
    std::optional<Row> device_row(Table& table, Scan& rows, const DeviceColumns& columns);
    void read_kernels();
    void read_copies();
    void read_allocations();

    void read_regions();
    void read_samples();

    Place place(std::optional<std::int64_t> process, std::optional<std::int64_t> thread);
    // The number of the agent's GPU; absent for CPUs.
    std::optional<std::int32_t> device(std::optional<std::int64_t> agent);
    bool is_gpu(std::optional<std::int64_t> agent) const;
    Event event(std::optional<std::int64_t> id) const;
    void mark(Row row, std::optional<std::int64_t> event, StringId otherwise, std::string_view category);

    const Database& database_;
    Batch& batch_;
    HostPlaces& places_;
    GpuNumbers& gpus_;
    std::string guid_, host_;
    Texts strings_;
    std::unordered_map<std::int64_t, StringId> processes_;                               // by their ids
    std::unordered_map<std::int64_t, std::pair<std::int64_t, std::string>> thread_ids_;  // tid and name
    std::unordered_map<std::int64_t, Agent> agents_;
    std::unordered_map<std::int64_t, Symbol> symbols_;
    std::unordered_map<std::int64_t, Counter> counters_;
    std::unordered_map<std::int64_t, Event> events_;
    std::unordered_map<std::int64_t, StringId> messages_;  // of markers, by event
    std::unordered_map<std::int64_t, Values> values_;      // of counters, by event
    std::uint64_t copy_calls_ = 0, copies_ = 0;
};

// The older format of rocmProfileData, and the analysis of rocprof-compute.
void read_rpd(const Database& database, Batch& batch);
void read_compute(const Database& database, Batch& batch);

}  // namespace gpuprof::importers::rocpd
