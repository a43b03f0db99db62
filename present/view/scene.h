// The content of a timeline: tracks, and on their rows lanes of slices or values. Values are in the units of the trace,
// which counts from zero (core/model/select_interval.h); nothing is merged or omitted.
//
//   process > thread > state, python ranges, operators, calls; Python calls nest deeply and have their own track
//   process > counter                CPUs in use
//   device > busy, idle, stream, annotations, counter; stream > counter: ops in its queue
//
// Slices of one lane are in time order and do not overlap; neither do slices of lanes that share a row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "io/exporters/counter_points.h"
#include "io/exporters/lanes.h"
#include "present/view/slice_table.h"

namespace gpuprof::inline view {

struct Slice {
    TimeNs start = 0;
    DurNs dur = 0;
    StringId name = kNoString;  // in the trace's strings; absent: the lane's label
    Row row = kNoRow;           // of the lane's table
};

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
    PodVector<Slice> slices = {};
    PodVector<Value> values = {};  // of a counter; each holds until the next
};

struct Scene {
    std::vector<Track> tracks;
    std::vector<Lane> lanes;
    // For each table, the lane index of each row, or -1; rows beyond the end have no lane.
    std::array<PodVector<std::int32_t>, kSliceTables> lane_of;

    std::int32_t add_track(Track track);  // returns its index
    void add_lane(Lane lane);             // and records the lane of its rows
};

// The tracks of processes, by key; in the order of the table where keys are equal.
using ProcessTracks = std::multimap<StringId, std::int32_t>;

// `facts` is of a trace that counts from zero. A row of table "gap" is an index in facts.get<GapList>().
Scene make_scene(const Facts& facts);

// Parts of make_scene (scene_devices.cc, scene_host.cc).
void add_devices(const Facts& facts, const std::vector<Counter>& counters, Scene& scene);
void add_threads(const Facts& facts, const ProcessTracks& processes, Scene& scene);
// Adds lanes for spans placed on rows of a track; Placed::table is a SliceTable. A row has one lane per table.
void add_rows(const Tables& tables, std::int32_t track, const std::vector<std::vector<PlacedSpan>>& rows, Scene& scene);
// Adds a track with the counter.
void add_counter(const Counter& counter, std::int32_t parent, Scene& scene);

}  // namespace gpuprof::view
