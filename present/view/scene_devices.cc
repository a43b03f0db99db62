// Devices: busy time, idle time by cause, the work of each stream, and counters.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/facts/activity.h"
#include "analyze/facts/idle/gaps.h"
#include "analyze/facts/idle/stream_work.h"
#include "analyze/facts/steps/iterations.h"
#include "present/view/scene.h"

namespace gpuprof::inline view {
namespace {

using StreamKey = std::tuple<StringId, std::int32_t, std::int64_t>;  // process, context, stream

class Devices {
public:
    Devices(Facts& facts, const std::vector<Counter>& counters, Scene& scene)
        : facts_(facts), trace_(facts.trace()), tables_(trace_.tables()), counters_(counters), scene_(scene) {}

    void add() {
        each_slice_table(tables_, [this](SliceTable which, const auto& table) {
            if constexpr (requires { table.device, table.context, table.stream; }) gather(table, which);
        });
        each_queued(
            trace_,
            [this](const auto& table, Row row, TimeNs joins, TimeNs leaves) {
                std::vector<QueueChange>& to = queues_[table.device.value_or(row, 0)][stream_of(table, row)];
                to.push_back({joins, 1});
                to.push_back({leaves, -1});
            },
            [](const auto&, Row) {});
        const DeviceRangeTable& r = tables_.device_range;
        for (Row row = 0; row < r.rows; ++row)
            ranges_[r.device.value_or(row, 0)][r.stream.value_or(row, 0)].push_back(
                {r.start[row], r.start[row] + r.dur[row], static_cast<std::uint32_t>(SliceTable::device_range), row});
        for (const DeviceActivity& activity : facts_.get<Activity>().devices)
            busy_[activity.device].push_back(&activity);
        auto add_span = [this](const IdleSpan& span) {
            Lane& lane = idle_[span.device][span.cause];
            if (span.thread != kNoString) lane.threads.set(static_cast<Row>(lane.slices.size()), span.thread);
            lane.slices.push_back({span.start, span.dur, kNoString, span.gap});
        };
        list_idle_spans(facts_, add_span);
        name_devices();
        name_streams();
        for (std::int32_t device : devices()) add_device(device);
    }

private:
    template <class Table>
    static StreamKey stream_of(const Table& table, Row row) {
        return {table.process.value_or(row, kNoString), table.context.value_or(row, 0), table.stream.value_or(row, 0)};
    }

    template <class Table>
    void gather(const Table& table, SliceTable which) {
        for (Row row = 0; row < table.rows; ++row)
            streams_[table.device.value_or(row, 0)][stream_of(table, row)].push_back(
                {table.start[row], table.start[row] + table.dur[row], static_cast<std::uint32_t>(which), row});
    }

    // Devices with work, annotations or counters.
    std::set<std::int32_t> devices() const {
        std::set<std::int32_t> devices;
        for (const auto& [device, work] : streams_) devices.insert(device);
        for (const auto& [device, ranges] : ranges_) devices.insert(device);
        for (const Counter& counter : counters_)
            if (counter.device) devices.insert(*counter.device);
        return devices;
    }

    // The first name that a device has.
    void name_devices() {
        const DeviceTable& d = tables_.device;
        for (Row row = 0; row < d.rows; ++row)
            if (d.device.has(row) && d.name.has(row))
                device_names_.try_emplace(d.device[row], trace_.text(d.name[row]));
    }

    // All names that a stream has.
    void name_streams() {
        const StreamTable& s = tables_.stream;
        for (Row row = 0; row < s.rows; ++row)
            if (s.stream.has(row) && s.name.has(row))
                stream_names_[{s.process.value_or(row, kNoString), s.stream[row]}] +=
                    fmt::format(" {}", trace_.text(s.name[row]));
    }

    std::string name_of_device(std::int32_t device) const {
        auto name = device_names_.find(device);
        return name == device_names_.end() ? fmt::format("GPU {}", device)
                                           : fmt::format("GPU {}: {}", device, name->second);
    }

    void add_device(std::int32_t device) {
        std::int32_t parent = scene_.add_track({-1, "device", name_of_device(device), device});
        add_iterations(device, parent);
        add_busy(device, parent);
        add_idle(device, parent);
        add_communication(device, parent);
        std::set<StringId> owners;
        for (const auto& [stream, work] : streams_[device]) owners.insert(std::get<0>(stream));
        for (auto& [stream, work] : streams_[device]) {
            std::int32_t track =
                scene_.add_track({parent, "stream", name_of_stream(stream, owners.size() > 1), device});
            add_lanes(track, work);
            add_queue(device, track, queues_[device][stream]);
        }
        for (auto& [stream, ranges] : ranges_[device]) {
            std::string name = fmt::format("stream {} annotations", stream);
            std::int32_t track = scene_.add_track({parent, "annotations", std::move(name), device});
            add_lanes(track, ranges);
        }
        for (const Counter& counter : counters_)
            if (counter.device == device) add_counter(counter, parent, scene_);
    }

    // The wall time of each engine step of a server: a track per worker, a lane per phase.
    void add_iterations(std::int32_t device, std::int32_t parent) {
        const Iterations& found = facts_.get<Iterations>();
        bool several = std::count_if(found.engines.begin(), found.engines.end(),
                                     [&](const Engine& each) { return each.device == device; }) > 1;
        for (std::size_t engine = 0; engine < found.engines.size(); ++engine) {
            if (found.engines[engine].device != device) continue;
            std::map<ServingPhase, Lane> lanes;
            for (const Iteration& it : found.all)
                if (it.engine == engine && it.has_times() && it.wall() > 0)
                    lanes[it.phase()].slices.push_back({it.begin, it.wall(), kNoString, kNoRow});
            if (lanes.empty()) continue;
            std::string name = "iterations";
            if (StringId process = found.engines[engine].process; several && process != kNoString)
                name += fmt::format(", process {}", trace_.text(process));
            std::int32_t track = scene_.add_track({parent, "iterations", std::move(name), device});
            for (auto& [phase, lane] : lanes) {
                lane.track = static_cast<std::uint32_t>(track);
                lane.table = SliceTable::iteration;
                lane.label = name_of(phase);
                scene_.lanes.push_back(std::move(lane));
            }
        }
    }

    void add_busy(std::int32_t device, std::int32_t parent) {
        for (const DeviceActivity* activity : busy_[device]) {
            std::int32_t track = scene_.add_track({parent, "busy", "busy", device});
            Lane lane{.track = static_cast<std::uint32_t>(track), .table = SliceTable::busy, .label = "busy"};
            for (const Interval& span : activity->busy)
                lane.slices.push_back({span.start, span.length(), kNoString, kNoRow});
            scene_.lanes.push_back(std::move(lane));
        }
    }

    // Time with a collective: without other kernels, and with them. Nothing without collectives.
    void add_communication(std::int32_t device, std::int32_t parent) {
        for (const DeviceActivity* activity : busy_[device]) {
            if (activity->comm.empty()) continue;
            std::int32_t track = scene_.add_track({parent, "communication", "communication", device});
            auto add = [&](std::string_view label, const IntervalSet& times) {
                if (times.empty()) return;
                Lane lane{.track = static_cast<std::uint32_t>(track), .table = SliceTable::communication};
                lane.label = label;
                for (const Interval& span : times)
                    lane.slices.push_back({span.start, span.length(), kNoString, kNoRow});
                scene_.lanes.push_back(std::move(lane));
            };
            add("exposed", subtract(activity->comm, activity->compute()));
            add("hidden", intersect(activity->comm, activity->compute()));
        }
    }

    // A lane per cause, all on one row.
    void add_idle(std::int32_t device, std::int32_t parent) {
        std::map<IdleCause, Lane>& lanes = idle_[device];
        if (lanes.empty()) return;
        std::int32_t track = scene_.add_track({parent, "idle", "idle by cause", device});
        for (auto& [cause, lane] : lanes) {
            lane.track = static_cast<std::uint32_t>(track);
            lane.table = SliceTable::gap;
            lane.label = name_of(cause);
            lane.threads.pad(lane.slices.size());
            lane.threads.narrow();
            scene_.lanes.push_back(std::move(lane));
        }
    }

    std::string name_of_stream(const StreamKey& key, bool several_processes) const {
        auto [process, context, stream] = key;
        std::string name = fmt::format("stream {}", stream);
        if (auto named = stream_names_.find({process, stream}); named != stream_names_.end()) name += named->second;
        if (context > 1) name += fmt::format(", context {}", context);
        if (several_processes && process != kNoString) name += fmt::format(", process {}", trace_.text(process));
        return name;
    }

    // Nothing if no call that submitted work was recorded.
    void add_queue(std::int32_t device, std::int32_t stream, std::vector<QueueChange>& changes) {
        if (changes.empty()) return;
        Counter counter{.device = device, .name = "queued ops", .unit = "ops"};
        for (auto [time, length] : queue_lengths(changes))
            counter.points.emplace_back(time, static_cast<double>(length));
        changes = {};
        add_counter(counter, stream, scene_);
    }

    // Overlapping ops go to the next row.
    void add_lanes(std::int32_t track, std::vector<PlacedSpan>& work) {
        TrackRows rows;
        std::size_t y = 0;
        for (std::vector<PlacedSpan>& spans : lay_out(std::move(work), Layout::flat)) {
            for (const PlacedSpan& span : spans) {
                auto table = static_cast<SliceTable>(span.table);
                rows.add(y, table,
                         {span.start, span.end - span.start, name_of_row(tables_, table, span.row), span.row});
            }
            spans = {};
            ++y;
        }
        std::move(rows).add_to(track, scene_);
    }

    Facts& facts_;
    const Trace& trace_;
    const Tables& tables_;
    const std::vector<Counter>& counters_;
    Scene& scene_;
    std::map<std::int32_t, std::map<StreamKey, std::vector<PlacedSpan>>> streams_;
    std::map<std::int32_t, std::map<StreamKey, std::vector<QueueChange>>> queues_;
    std::map<std::int32_t, std::map<std::int64_t, std::vector<PlacedSpan>>> ranges_;
    std::map<std::int32_t, std::vector<const DeviceActivity*>> busy_;
    std::map<std::int32_t, std::map<IdleCause, Lane>> idle_;
    std::map<std::int32_t, std::string_view> device_names_;
    std::map<std::pair<StringId, std::int64_t>, std::string> stream_names_;
};

}  // namespace

void add_devices(Facts& facts, const std::vector<Counter>& counters, Scene& scene) {
    Devices(facts, counters, scene).add();
}

}  // namespace gpuprof::view
