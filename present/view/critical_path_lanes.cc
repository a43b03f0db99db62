#include "present/view/critical_path_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analyze/replay/prediction.h"

namespace gpuprof::inline view {
namespace {

SliceTable table_of(DeviceOp op) {
    switch (op) {
        case DeviceOp::kernel: return SliceTable::kernel;
        case DeviceOp::memcpy: return SliceTable::memcpy;
        case DeviceOp::memset: return SliceTable::memset;
        case DeviceOp::none: break;
    }
    return SliceTable::none;
}

// Finds the row of a track where a span belongs.
class Places {
public:
    Places(const ViewPath& path, const Trace& trace, const Scene& scene)
        : path_(path), tables_(trace.tables()), scene_(scene) {
        const ApiCallTable& calls = tables_.api_call;
        std::unordered_map<StringId, std::int32_t> tracks;
        for (Row row = 0; row < calls.rows; ++row) {
            std::int32_t lane = lane_of(SliceTable::api_call, row);
            if (lane < 0) continue;
            tracks.try_emplace(calls.thread.value_or(row, kNoString),
                               static_cast<std::int32_t>(scene.lanes[static_cast<std::size_t>(lane)].track));
        }
        for (const std::string& key : path.threads) {
            threads_.push_back(trace.strings().find(key));
            auto found = tracks.find(threads_.back());
            tracks_.push_back(found == tracks.end() ? -1 : found->second);
        }
    }
    // Track and row; -1: none.
    std::pair<std::int32_t, std::uint32_t> of(const ViewPathSpan& span) const {
        std::int32_t lane = -1;
        each_slice_table(tables_, [&](SliceTable which, const auto& table) {
            if (which != span.table) return;
            if constexpr (requires { table.device, table.stream; })
                lane = find(which, table, span.event_start, [&](Row row) {
                    return std::pair(table.device.value_or(row, 0), table.stream.value_or(row, 0)) ==
                           path_.streams[span.lane];
                });
            else if constexpr (requires { table.thread; })
                lane = find(which, table, span.event_start,
                            [&](Row row) { return table.thread.value_or(row, kNoString) == threads_[span.lane]; });
        });
        if (lane < 0) return {span.table == SliceTable::none ? tracks_[span.lane] : -1, 0};
        const Lane& found = scene_.lanes[static_cast<std::size_t>(lane)];
        return {static_cast<std::int32_t>(found.track), found.y};
    }

private:
    std::int32_t lane_of(SliceTable table, Row row) const {
        return scene_.lane_of[static_cast<std::size_t>(table)].value_or(row, -1);
    }
    // The lane of the event that starts at `start` and passes `is_it`; rows are in time order.
    template <class Table, class Test>
    std::int32_t find(SliceTable which, const Table& table, TimeNs start, Test is_it) const {
        for (Row row = table.start.lower_bound(start); row < table.rows && table.start[row] == start; ++row)
            if (is_it(row)) return lane_of(which, row);
        return -1;
    }

    const ViewPath& path_;
    const Tables& tables_;
    const Scene& scene_;
    std::vector<StringId> threads_;
    std::vector<std::int32_t> tracks_;  // by thread
};

}  // namespace

ViewPath view_path(const Facts& facts) {
    if (!facts.get<ReplayValidity>().why_not.empty()) return {};
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    const Trace& trace = facts.trace();
    const TimeNs zero = trace.zero();
    ViewPath view;
    for (StringId thread : graph.threads) view.threads.emplace_back(trace.text(thread));
    for (const auto& stream : graph.streams) view.streams.emplace_back(stream.device, stream.stream);
    std::optional<RecordedTimes> times;
    CriticalPath path = critical_path_of(facts, Estimate::central, {}, [&](const PathPart& part) {
        if (!times) times.emplace(graph, trace);
        const Interval time = times->of(part);
        if (time.length() <= 0) return;
        const PointInfo& info = graph.info[part.point];
        const std::uint32_t object = graph.object[part.point];
        ViewPathSpan span{.time = {time.start - zero, time.end - zero}, .lane = info.lane, .what = part.what};
        if (info.kind == PointKind::op) {
            span.table = table_of(op_kind(object));
            span.event_start = recorded_start(trace, object) - zero;
        } else if (info.kind == PointKind::call_end) {
            span.table = SliceTable::api_call;
            span.event_start = trace.api_call().start[object] - zero;
        }
        view.spans.push_back(span);
    });
    view.by_class = path.by_class;
    view.total = path.total;
    return view;
}

void add_critical_path(const ViewPath& path, const Trace& trace, Scene& scene) {
    if (path.spans.empty()) return;
    Places places(path, trace, scene);
    struct Open {
        Lane lane;
        Interval last{};  // spans that touch are one slice
        void close() {
            if (last.length() > 0) lane.slices.push_back({last.start, last.length(), kNoString, kNoRow});
        }
    };
    std::map<std::tuple<std::int32_t, std::uint32_t, PathClass>, Open> lanes;
    for (std::size_t i = path.spans.size(); i-- > 0;) {
        const ViewPathSpan& span = path.spans[i];
        auto [track, y] = places.of(span);
        if (track < 0) continue;
        Open& open = lanes[{track, y, span.what}];
        if (open.last.length() > 0 && open.last.end == span.time.start) {
            open.last.end = span.time.end;
        } else {
            open.close();
            open.last = span.time;
        }
    }
    for (auto& [key, open] : lanes) {
        auto [track, y, what] = key;
        open.close();
        open.lane.track = static_cast<std::uint32_t>(track);
        open.lane.y = y;
        open.lane.table = SliceTable::critical_path;
        open.lane.label = name_of(what);
        scene.lanes.push_back(std::move(open.lane));
    }
}

}  // namespace gpuprof::view
