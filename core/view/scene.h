// What a timeline shows of a trace: tracks, and on their rows lanes of slices or of values. Everything here is in the units of the
// trace, which counts from zero (core/model/part.h); nothing is merged or left out.
//
//   process > thread > python        ranges, operators, calls; Python calls apart, since they are deep
//   process > counter                processors in use
//   device > busy, idle, stream, annotations, counter
//
// Slices of one lane are in the order of time and do not overlap, nor do those of lanes that share a row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analyze/facts/facts.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"
#include "core/exporters/counters.h"
#include "core/exporters/lanes.h"
#include "core/view/slice_table.h"

namespace gpuprof {

struct Slice {
    TimeNs start = 0;
    DurNs dur = 0;
    StringId name = kNoString;  // of the trace's strings; none: the lane's label
    Row row = kNoRow;           // of the lane's table
};

struct Value {
    TimeNs time = 0;
    double value = 0;
};

struct Track {
    std::int32_t parent = -1;  // index of a track before it
    std::string_view kind;
    std::string name;
    std::optional<std::int32_t> device = {};
};

struct Lane {
    std::uint32_t track = 0;
    std::uint32_t y = 0;  // row of the track
    SliceTable table = SliceTable::none;
    std::string label = {};  // the name of slices that have none; of a counter its own
    std::string unit = {};   // of a counter
    PodVector<Slice> slices = {};
    PodVector<Value> values = {};  // of a counter; each holds until the next
};

struct Scene {
    std::vector<Track> tracks;
    std::vector<Lane> lanes;
    // Per table the index of the lane that each row is on, or -1; rows beyond the end are on none.
    std::array<PodVector<std::int32_t>, kSliceTables> lane_of;

    std::int32_t add_track(Track track);  // its index
    void add_lane(Lane lane);             // and notes where its rows are
};

// The tracks of processes, by their keys.
using ProcessTracks = std::vector<std::pair<StringId, std::int32_t>>;

// `facts` is of a trace that counts from zero. A row of table "gap" is an index in facts.get<GapList>().
Scene make_scene(const Facts& facts);

// Its parts (scene_devices.cc, scene_host.cc).
void add_devices(const Facts& facts, const std::vector<Counter>& counters, Scene& scene);
void add_threads(const Trace& trace, const ProcessTracks& processes, Scene& scene);
// Lanes for spans that stand on rows of a track, by row; Placed::table is a SliceTable. A row has a lane per table.
void add_rows(const Tables& tables, std::int32_t track, const std::vector<std::vector<Placed>>& rows, Scene& scene);
// A track with the counter on it.
void add_counter(const Counter& counter, std::int32_t parent, Scene& scene);

}  // namespace gpuprof
