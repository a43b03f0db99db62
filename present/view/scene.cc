#include "present/view/scene.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/parallel.h"

namespace gpuprof::inline view {
namespace {

std::string name_of_process(const Trace& trace, Row row) {
    const ProcessTable& p = trace.tables().process;
    std::string name = p.pid.has(row) ? fmt::format("process {}", p.pid[row]) : "process";
    if (p.name.has(row)) name += fmt::format(" {}", trace.text(p.name[row]));
    if (p.rank.has(row)) name += fmt::format(", rank {}", p.rank[row]);
    return name;
}

// Removes tracks without lanes or child tracks, such as processes known only by name.
void drop_empty(Scene& scene) {
    std::vector<bool> used(scene.tracks.size(), false);
    for (const Lane& lane : scene.lanes) used[lane.track] = true;
    for (std::size_t i = scene.tracks.size(); i-- > 0;)  // parents precede their children
        if (used[i] && scene.tracks[i].parent >= 0) used[static_cast<std::size_t>(scene.tracks[i].parent)] = true;
    std::vector<std::int32_t> new_index(scene.tracks.size(), -1);
    std::vector<Track> kept;
    for (std::size_t i = 0; i < scene.tracks.size(); ++i) {
        if (!used[i]) continue;
        Track& track = scene.tracks[i];
        if (track.parent >= 0) track.parent = new_index[static_cast<std::size_t>(track.parent)];
        new_index[i] = static_cast<std::int32_t>(kept.size());
        kept.push_back(std::move(track));
    }
    scene.tracks = std::move(kept);
    for (Lane& lane : scene.lanes) lane.track = static_cast<std::uint32_t>(new_index[lane.track]);
}

}  // namespace

std::string_view name_of(SliceTable table) {
    switch (table) {
#define GPUPROF_NAME(table, label) \
    case SliceTable::table: return #table;
        GPUPROF_SLICE_TABLES(GPUPROF_NAME)
#undef GPUPROF_NAME
        case SliceTable::gap: return "gap";
        case SliceTable::busy: return "busy";
        case SliceTable::thread_state: return "thread_state";
        case SliceTable::communication: return "communication";
        case SliceTable::iteration: return "iteration";
        case SliceTable::critical_path: return "critical_path";
        case SliceTable::none: break;
    }
    return "";
}

std::string_view label_of(SliceTable table) {
    switch (table) {
#define GPUPROF_LABEL(table, label) \
    case SliceTable::table: return label;
        GPUPROF_SLICE_TABLES(GPUPROF_LABEL)
#undef GPUPROF_LABEL
        default: return name_of(table);
    }
}

std::int32_t Scene::add_track(Track track) {
    tracks.push_back(std::move(track));
    return static_cast<std::int32_t>(tracks.size()) - 1;
}

void Scene::add_lane(Lane lane) {
    auto index = static_cast<std::int32_t>(lanes.size());
    if (lane.table != SliceTable::none) {
        PodVector<std::int32_t>& where = lane_of[static_cast<std::size_t>(lane.table)];
        for (const Slice& slice : lane.slices) {
            if (slice.row == kNoRow) continue;
            if (slice.row >= where.size()) where.resize(slice.row + 1, -1);
            where[slice.row] = index;
        }
    }
    lanes.push_back(std::move(lane));
}

void Scene::append(Scene more) {
    auto first_track = static_cast<std::int32_t>(tracks.size()), first_lane = static_cast<std::int32_t>(lanes.size());
    for (Track& track : more.tracks) {
        if (track.parent >= 0) track.parent += first_track;
        tracks.push_back(std::move(track));
    }
    for (Lane& lane : more.lanes) {
        lane.track += static_cast<std::uint32_t>(first_track);
        lanes.push_back(std::move(lane));
    }
    for (std::size_t table = 0; table < lane_of.size(); ++table) {
        if (more.lane_of[table].empty()) continue;
        for (std::int32_t& lane : more.lane_of[table])
            if (lane >= 0) lane += first_lane;
        lane_of[table].swap(more.lane_of[table]);
    }
}

void add_rows(const Tables& tables, std::int32_t track, std::vector<std::vector<PlacedSpan>> rows, Scene& scene) {
    for (std::uint32_t y = 0; y < rows.size(); ++y) {
        std::array<Lane, kSliceTables> lanes;
        auto name_of_row = [&](const PlacedSpan& span) {
            StringId name = kNoString;
            each_slice_table(tables, [&](SliceTable which, const auto& table) {
                if (span.table == static_cast<std::uint32_t>(which)) name = name_in(table, span.row);
            });
            return name;
        };
        for (const PlacedSpan& span : rows[y])
            lanes[span.table].slices.push_back({span.start, span.end - span.start, name_of_row(span), span.row});
        rows[y] = {};
        for (std::size_t table = 0; table < lanes.size(); ++table) {
            Lane& lane = lanes[table];
            if (lane.slices.size() == 0) continue;
            lane.track = static_cast<std::uint32_t>(track);
            lane.y = y;
            lane.table = static_cast<SliceTable>(table);
            lane.label = label_of(lane.table);
            scene.add_lane(std::move(lane));
        }
    }
}

void add_counter(const Counter& counter, std::int32_t parent, Scene& scene) {
    std::int32_t track = scene.add_track({parent, "counter", counter.name, counter.device});
    Lane lane{.track = static_cast<std::uint32_t>(track), .label = counter.name, .unit = counter.unit};
    lane.values.reserve(counter.points.size());
    for (auto [time, value] : counter.points) lane.values.push_back({time, value});
    scene.add_lane(std::move(lane));
}

Scene make_scene(const Facts& facts) {
    const Trace& trace = facts.trace();
    std::vector<Counter> counters = counters_of(trace);
    Scene scene, host;
    auto add_processes = [&] {
        ProcessTracks processes;
        for (Row row = 0; row < trace.tables().process.rows; ++row)
            if (trace.tables().process.key.has(row))
                processes.emplace(trace.tables().process.key[row],
                                  host.add_track({-1, "process", name_of_process(trace, row)}));
        add_threads(facts, processes, host);
        for (const Counter& counter : counters) {
            if (counter.device) continue;
            auto [first, last] = processes.equal_range(counter.process);
            for (auto process = first; process != last; ++process) add_counter(counter, process->second, host);
        }
    };
    run_together(trace.kernel().rows + trace.op().rows + trace.api_call().rows,
                 {[&] { add_devices(facts, counters, scene); }, add_processes});
    scene.append(std::move(host));
    drop_empty(scene);
    return scene;
}

}  // namespace gpuprof::view
