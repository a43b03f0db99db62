#include "present/view/scene.h"

#include <fmt/format.h>

#include <functional>
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

void find_lanes(const Tables& tables, Scene& scene) {
    std::size_t all = 0;
    std::vector<std::function<void()>> each_table;
    each_slice_table(tables, [&](SliceTable which, const auto& table) {
        all += table.rows;
        each_table.push_back([&scene, which, rows = table.rows] {
            PodVector<std::int32_t> found(rows, -1);
            for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane)
                if (scene.lanes[lane].table == which)
                    for (const Slice& slice : scene.lanes[lane].slices)
                        found[slice.row] = static_cast<std::int32_t>(lane);
            Column<std::int32_t>& lane_of = scene.lane_of[static_cast<std::size_t>(which)];
            for (Row row = 0; row < rows; ++row)
                if (found[row] >= 0) lane_of.set(row, found[row]);
            lane_of.pad(rows);
            lane_of.narrow();
        });
    });
    run_together(all, each_table);
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

void Scene::append(Scene more) {
    auto first_track = static_cast<std::int32_t>(tracks.size());
    for (Track& track : more.tracks) {
        if (track.parent >= 0) track.parent += first_track;
        tracks.push_back(std::move(track));
    }
    for (Lane& lane : more.lanes) {
        lane.track += static_cast<std::uint32_t>(first_track);
        lanes.push_back(std::move(lane));
    }
}

void TrackRows::add_to(std::int32_t track, Scene& scene) && {
    for (std::uint32_t y = 0; y < rows_.size(); ++y)
        for (std::size_t table = 0; table < kSliceTables; ++table) {
            if (rows_[y][table].empty()) continue;
            Lane& lane = scene.lanes.emplace_back();
            lane.track = static_cast<std::uint32_t>(track);
            lane.y = y;
            lane.table = static_cast<SliceTable>(table);
            lane.label = label_of(lane.table);
            lane.slices = std::move(rows_[y][table]);
        }
}

void add_counter(const Counter& counter, std::int32_t parent, Scene& scene) {
    std::int32_t track = scene.add_track({parent, "counter", counter.name, counter.device});
    Lane lane{.track = static_cast<std::uint32_t>(track), .label = counter.name, .unit = counter.unit};
    lane.values.reserve(counter.points.size());
    for (auto [time, value] : counter.points) lane.values.push_back({time, value});
    scene.lanes.push_back(std::move(lane));
}

Scene make_scene(Facts& facts, const std::function<void(const Scene&)>& with_host) {
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
        if (with_host) with_host(host);
    };
    run_together(trace.kernel().rows + trace.op().rows + trace.api_call().rows,
                 {[&] { add_devices(facts, counters, scene); }, add_processes});
    scene.append(std::move(host));
    drop_empty(scene);
    find_lanes(trace.tables(), scene);
    return scene;
}

}  // namespace gpuprof::view
