// Builds a ReplayGraph: merges host points and device ops by time, makes the edges of each point when it comes, and afterwards
// takes the lag of each class of edges and what is missing to the recorded times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyze/facts/host/host_copies.h"
#include "analyze/replay/graph.h"
#include "analyze/replay/host_lanes.h"
#include "analyze/replay/lag_classes.h"
#include "analyze/replay/op_streams.h"
#include "analyze/replay/recorded_waits.h"

namespace gpuprof::inline replay {

class GraphBuilder {
public:
    GraphBuilder(const Trace& trace, HostLanes host);
    ReplayGraph build() &&;

private:
    // The ops issued last to one stream.
    struct RecentOp {
        Point point = kNoPoint;
        TimeNs issued = 0, start = 0, end = 0;
        Row call = kNoRow;
        DeviceOp kind = DeviceOp::none;
        bool graph = false, to_device = false;
    };
    // The last op that is in a step: its place in ReplayGraph::steps.
    struct LastInStep {
        bool any = false;
        std::size_t step = 0, place = 0;
    };
    struct StreamState {
        static constexpr std::size_t kKept = 2048;  // twice what a queue holds
        std::vector<RecentOp> ring;
        std::uint64_t count = 0;                            // ops so far; the last kKept of them are kept
        Point last_copy = kNoPoint, last_other = kNoPoint;  // copies to the device, and all other ops
        std::size_t next_wait = 0;                          // in waits_of_stream_
        LastInStep copies_in_steps, others_in_steps;        // likewise
        const RecentOp* last() const { return back(1); }
        // The n-th last op, 1 being the last; null if it is not kept.
        const RecentOp* back(std::uint64_t n) const {
            return n == 0 || n > ring.size() ? nullptr : &ring[(count - n) % kKept];
        }
        void add(const RecentOp& op) {
            if (ring.size() < kKept)
                ring.push_back(op);
            else
                ring[count % kKept] = op;
            ++count;
        }
    };
    // Whether times lie in spans; times do not decrease from one question to the next.
    class WithinSpans {
    public:
        explicit WithinSpans(const IntervalSet& spans) : spans_(&spans) {}
        // Whether the time before `time` does.
        bool holds_before(TimeNs time) {
            while (at_ < spans_->size() && (*spans_)[at_].end < time) ++at_;
            return at_ < spans_->size() && time > (*spans_)[at_].start;
        }

    private:
        const IntervalSet* spans_;
        std::size_t at_ = 0;
    };
    struct LateEdge {
        Point to;
        ReplayEdge edge;
    };

    void number_streams();
    void number_marks();
    void merge();
    void add_host_point(std::size_t lane, std::size_t at);
    void add_op(const OpRow& op);
    PointInfo info_of(std::size_t lane, std::size_t at);
    Point push(PointInfo info, std::uint32_t object, TimeNs time, DurNs length);
    void edge(Point source, std::uint16_t lag, EdgeKind kind, bool from_end);

    // Whether an op waits for an event, as the first since the wait was issued: its start says nothing about launches or streams.
    bool waits_for_event(std::uint16_t to, TimeNs issued, const StreamState& stream) const;
    // `alone`: nothing but its launch and its stream can have delayed the op.
    void launch_edge(const OpRow& op, Row call, const StreamState& stream, bool alone);
    void stream_edges(const OpRow& op, Row call, const StreamState& stream, bool alone);
    void event_edges(std::uint16_t to, TimeNs issued, StreamState& stream);
    void back_pressure(Row call, const StreamState& stream);
    void note_step(Point op, TimeNs issued, TimeNs start, LastInStep& last, bool copy);

    void call_returned(PointInfo info);
    bool wait_for_copy(Row call, TimeNs begun, TimeNs returned);
    bool wait_for_stream(Row call, TimeNs begun, TimeNs returned);
    bool wait_for_device(Row call, TimeNs begun, TimeNs returned, EdgeKind kind);
    const RecentOp* last_done(const StreamState& stream, TimeNs issued_before, TimeNs done_by) const;
    void sync_edge(const RecentOp& op, StringId name, TimeNs begun, TimeNs returned, EdgeKind kind, bool last);

    void insert_late_edges();
    void explain_points();
    void explain_host(Point p, bool first);
    void explain_op(Point p);
    std::pair<ReplayEdge*, DurNs> cut_late_edges(Point p);
    DurNs base_cost(Row call, CallKind kind);
    void set_residual(ReplayEdge& edge, DurNs residual);

    bool is_graph(Row call);
    TimeNs call_end(Row call) const { return trace_.api_call().start[call] + trace_.api_call().dur[call]; }
    StringId call_name(Row call) const { return trace_.api_call().name.value_or(call, kNoString); }

    const Trace& trace_;
    HostLanes host_;
    ReplayGraph graph_;
    LagClasses classes_;
    SyncScopes scopes_;
    OpStreams op_streams_;
    std::vector<StreamState> streams_;
    std::vector<std::vector<StreamWait>> waits_of_stream_;
    TimeNs now_ = 0;  // recorded time of the last point
    // Recorded times of cuts, whose time no row of the recording has, by point.
    struct CutTime {
        Point point;
        TimeNs time;
    };
    PodVector<CutTime> cut_times_;
    TimeNs time_of(Point p) const;              // recorded
    PodVector<Point> start_point_, end_point_;  // by row of api_call
    std::vector<LateEdge> late_;
    std::vector<std::optional<bool>> graph_call_;  // by name
    CopyPaths paths_;
    std::map<StringId, DurNs> shortest_call_;  // of allocation calls, by name
    std::vector<Row> previous_call_;           // by lane
    std::vector<TimeNs> synced_;               // by lane: when a call last waited for the whole device
    WorkCounter work_;
    std::vector<WithinSpans> in_step_, between_, in_input_, in_sampling_, between_engine_steps_;  // by lane
    std::size_t step_ = 0;                                                                        // hint for note_step
    // Points of a lane that others refer to.
    struct Mark {
        std::uint32_t at;
        Point point = kNoPoint;
    };
    struct HandOverEdge {
        std::uint32_t to_at;
        std::size_t from_lane;
        std::uint32_t from_at;
    };
    std::vector<std::vector<Mark>> marks_;
    std::vector<std::size_t> next_mark_, next_hand_over_;
    std::vector<std::vector<HandOverEdge>> hand_over_edges_;
    Point mark_of(std::size_t lane, std::uint32_t at) const;
};

}  // namespace gpuprof::replay
