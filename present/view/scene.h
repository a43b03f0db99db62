// The content of a timeline: tracks, and on their rows lanes of slices or values. Values are in the units of the trace,
// which counts from zero (core/model/select_interval.h); nothing is merged or omitted.
//
//   process > thread > state, python ranges, operators, calls; Python calls nest deeply and have their own track
//   process > counter                CPUs in use
//   device > iterations, busy, idle, communication, stream, annotations, counter; stream > counter: ops in its queue
//
// Slices of one lane are in time order and do not overlap; neither do slices of lanes that share a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/model/column.h"
#include "core/model/tables.h"
#include "io/exporters/counter_points.h"
#include "io/exporters/lanes.h"
#include "present/view/slices.h"

namespace gpuprof::inline view {

// The tables whose rows are drawn as slices, declared once, with the default name of their slices. From this
// declaration rows are collected, named, listed with their fields and looked up. In nesting order for equal spans of a thread, outermost first.
#define GPUPROF_SLICE_TABLES(TABLE)   \
    TABLE(kernel, "kernel")           \
    TABLE(memcpy, "copy")             \
    TABLE(memset, "fill")             \
    TABLE(range, "range")             \
    TABLE(op, "op")                   \
    TABLE(api_call, "api_call")       \
    TABLE(os_call, "os_call")         \
    TABLE(overhead, "overhead")       \
    TABLE(python_call, "python_call") \
    TABLE(device_range, "device_range")

#define GPUPROF_SLICE_TABLE_VALUE(table, label) table,
enum class SliceTable : std::uint8_t {
    GPUPROF_SLICE_TABLES(GPUPROF_SLICE_TABLE_VALUE) gap,  // this and the next five are computed, not tables of a trace
    busy,
    thread_state,
    communication,
    iteration,
    critical_path,
    none
};
#undef GPUPROF_SLICE_TABLE_VALUE
inline constexpr std::size_t kSliceTables = static_cast<std::size_t>(SliceTable::none);

std::string_view name_of(SliceTable table);
// Whether its slices are times without rows.
constexpr bool is_times_only(SliceTable table) {
    return table >= SliceTable::busy && table <= SliceTable::critical_path;
}
// The name of a slice without a name in the trace.
std::string_view label_of(SliceTable table);

// Calls visit(which, table) for each slice table of the trace.
template <class Visit>
void each_slice_table(const Tables& tables, Visit&& visit) {
#define GPUPROF_VISIT_SLICE_TABLE(table, label) visit(SliceTable::table, tables.table);
    GPUPROF_SLICE_TABLES(GPUPROF_VISIT_SLICE_TABLE)
#undef GPUPROF_VISIT_SLICE_TABLE
}

// The name of a row; kNoString if it has none.
template <class Table>
StringId name_in(const Table& table, Row row) {
    if constexpr (requires { table.name; })
        return table.name.value_or(row, kNoString);
    else if constexpr (std::is_same_v<Table, MemcpyTable>)
        return table.kind.value_or(row, kNoString);
    else
        return kNoString;
}

// The name of a row of a table.
inline StringId name_of_row(const Tables& tables, SliceTable which, Row row) {
    StringId name = kNoString;
    each_slice_table(tables, [&](SliceTable each, const auto& table) {
        if (each == which) name = name_in(table, row);
    });
    return name;
}

struct Value {
    TimeNs time = 0;
    double value = 0;
};

struct Track {
    std::int32_t parent = -1;  // index of an earlier track
    std::string_view kind;
    std::string name;
    std::optional<std::int32_t> device = {};
    std::string_view thread = {};  // its key, as in columns of tables
};

struct Lane {
    std::uint32_t track = 0;
    std::uint32_t y = 0;  // row of the track
    SliceTable table = SliceTable::none;
    std::string label = {};  // the name of unnamed slices, or of a counter
    std::string unit = {};   // of a counter
    Slices slices = {};
    PodVector<Value> values = {};   // of a counter; each holds until the next
    Column<StringId> threads = {};  // of pieces of idle time: the keys of those that explain them
};

struct Scene {
    std::vector<Track> tracks;
    std::vector<Lane> lanes;
    // For each table of the trace, the lane index of each row; absent: none. Known when the scene is complete.
    std::array<Column<std::int32_t>, kSliceTables> lane_of;

    std::int32_t add_track(Track track);  // returns its index
    // After those here.
    void append(Scene more);
};

// The tracks of processes, by key; in the order of the table where keys are equal.
using ProcessTracks = std::multimap<StringId, std::int32_t>;

// `facts` is of a trace that counts from zero; GapList and IdleGaps become known. A row of table "gap" is an index in facts.get<GapList>(). `with_host`: called with the part
// of processes, whose lanes come last, while devices take longer.
Scene make_scene(Facts& facts, const std::function<void(const Scene&)>& with_host = {});

// Parts of make_scene (scene_devices.cc, scene_host.cc).
void add_devices(Facts& facts, const std::vector<Counter>& counters, Scene& scene);
void add_threads(const Facts& facts, const ProcessTracks& processes, Scene& scene);
// The lanes of one track under construction: one for each of its rows and table.
class TrackRows {
public:
    // In time order, for each row and table.
    void add(std::size_t y, SliceTable table, const Slice& slice) {
        if (y >= rows_.size()) rows_.resize(y + 1);
        rows_[y][static_cast<std::size_t>(table)].push_back(slice);
    }
    void add_to(std::int32_t track, Scene& scene) &&;

private:
    std::vector<std::array<Slices, kSliceTables>> rows_;
};
// Adds a track with the counter.
void add_counter(const Counter& counter, std::int32_t parent, Scene& scene);

}  // namespace gpuprof::view
