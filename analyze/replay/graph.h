// A recording as points in time and the reasons why each is not earlier, so that it can be replayed with something changed.
//
//   T[p] = max over the edges e into p of T[source of e] + lag of e
//
// Points are the instants that can move: starts and ends of outermost calls, cuts in host code (input ranges, steps,
// hand-overs between threads) and starts of device ops. The end of an op is its start plus its length. Points are in recorded
// order and every edge goes forward, so one pass replays the recording; an edge that would go backward is not made and counted.
// A host point depends on the point of its thread before it: that edge is implicit, and its lag is the point's length.
// Every op keeps all its edges, not only the one that bound in the recording: the slack of the others is what a change uses up.
//
// Lags come in two parts. The lag of a class is the median of its edges in this recording. The residual is what is missing to the
// recorded time. With residuals an unchanged replay is the recording, by construction; that tests the code and licenses no
// prediction (ReplayValidity does).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/facts/device_op.h"
#include "analyze/knowledge/host_names.h"
#include "analyze/replay/recorded_work.h"
#include "core/base/ids.h"
#include "core/base/pod_vector.h"

namespace gpuprof::inline facts {
class Facts;
}

namespace gpuprof::inline replay {

using Point = std::uint32_t;
inline constexpr Point kNoPoint = 0xFFFFFFFFu;

enum class PointKind : std::uint8_t { op, cut, call_start, call_end };

// Parts of an engine's thread, in a server of language models (EngineStretches).
enum class EngineStretch : std::uint8_t { none, sampling, between };

// Lengths of points, three bytes each. Few are longer than that holds (8 ms, or 4 ms negative), because they pass one after the other on a
// thread or a stream: they are in a list, and their three bytes say where.
class PointLengths {
public:
    DurNs operator[](Point p) const {
        std::int32_t code = code_of(p);
        return code >= kLeast ? code : long_at(p, code);
    }
    void set(Point p, DurNs length) {
        if (length >= kLeast && length <= kMost)
            put(p, static_cast<std::int32_t>(length));
        else
            set_long(p, length);
    }
    void reserve(std::size_t points) { short_.reserve(points * kBytes + 1); }
    void push_back(DurNs length) {
        std::size_t p = short_.size() / kBytes;
        short_.resize((p + 1) * kBytes + 1);
        put(static_cast<Point>(p), 0);
        set(static_cast<Point>(p), length);
    }
    // Becomes a copy, in the same memory.
    void take(const PointLengths& from);

private:
    // Four bytes are read: the last has one more behind it.
    std::int32_t code_of(Point p) const {
        std::uint32_t code;
        std::memcpy(&code, short_.data() + std::size_t{p} * kBytes, sizeof code);
        return static_cast<std::int32_t>(code << 8) >> 8;
    }
    void put(Point p, std::int32_t code) { std::memcpy(short_.data() + std::size_t{p} * kBytes, &code, kBytes); }
    DurNs long_at(Point p, std::int32_t code) const;
    void set_long(Point p, DurNs length);

    static constexpr std::size_t kBytes = 3;
    static constexpr std::int32_t kMost = (1 << 23) - 1, kLeast = -(1 << 22);
    // Codes from here to kLeast - 1 are places in the list; the one before, when the list is full, says that the map has it.
    static constexpr std::int32_t kFirst = -(1 << 23) + 1, kInMap = kFirst - 1;
    PodVector<unsigned char> short_;
    PodVector<DurNs> long_;
    std::unordered_map<Point, DurNs> rest_;
};

// Where the edges into each point begin: a byte each, on top of what a block of points has. Blocks with more edges have whole numbers.
class EdgeStarts {
public:
    std::size_t size() const { return above_.size(); }
    std::uint32_t operator[](std::size_t p) const {
        std::uint32_t block = blocks_[p / kBlock];
        return (block & kWide) == 0 ? block + above_[p] : wide_[(block & ~kWide) * kBlock + p % kBlock];
    }
    // Not less than the one before.
    void push_back(std::size_t edge);

private:
    static constexpr std::size_t kBlock = 16;
    static constexpr std::uint32_t kWide = 0x80000000u;  // the rest: index of a block in wide_
    PodVector<std::uint8_t> above_;
    PodVector<std::uint32_t> blocks_;
    std::vector<std::uint32_t> wide_;
};

struct PointInfo {
    std::uint16_t lane = 0;  // ops: index in streams; others: index in threads
    PointKind kind : 2 = PointKind::op;
    CallKind call : 3 = CallKind::other;  // call_start, call_end
    bool in_step : 1 = false;             // host: the time before the point lies in a step; ops: launched in a step
    bool between : 1 = false;             // the same, between two steps
    bool in_input : 1 = false;            // host: the time before the point lies in a range that fetches input
    bool waits : 1 = false;               // call_end: the call lasted until the device had reached some point
    bool idle : 1 = false;                // host: before the point, the thread only waited for another thread
    EngineStretch stretch : 2 = EngineStretch::none;  // host: in which the time before the point lies

    bool in_loop() const { return in_step || between; }
};

enum class EdgeKind : std::uint8_t {
    launch,          // call -> op
    stream,          // op -> next op of its stream
    copy_order,      // kernel -> copy to the device that is next on its stream
    sync_return,     // op -> end of the call that waited for it
    copy_to_device,  // copy -> end of its blocking call
    copy_to_host,
    allocation_return,  // op -> end of an allocation call that waited for it
    event,              // op before a recorded event -> op after the wait for it
    back_pressure,      // op that made room in a full queue -> end of the launch call that waited for room
    hand_over,          // thread -> thread
    bypass,             // op -> op around copies; counts only in a replay in which copies have a stream of their own
};
inline constexpr std::size_t kEdgeKinds = 11;

static_assert(sizeof(PointInfo) == 4);

struct ReplayEdge {
    Point source;
    std::int32_t residual;  // ns, in replays with residuals
    std::uint16_t lag;      // index in LagClass
    EdgeKind kind;
    bool from_end;  // from the end of a source that is an op
};

// A class of edges with one lag. `extra` is a residual that an edge cannot hold: such an edge has a class of its own.
struct LagClass {
    DurNs lag = 0;
    DurNs extra = 0;
    DurNs recorded = 0;  // the lag as recorded, when a change shortens it
};

struct ReplayStream {
    StringId process = kNoString;
    std::int32_t device = -1, context = -1;
    std::int64_t stream = -1;
};

struct ReplayGraph {
    PodVector<PointInfo> info;        // by point
    PodVector<std::uint32_t> object;  // ops: op_code(); calls: row of api_call; cuts: kNoRow
    PointLengths length;              // ops: duration; host points: lag from the point before on the thread
    EdgeStarts first_edge;            // points + 1
    PodVector<ReplayEdge> edges;      // by the point they lead to
    std::vector<LagClass> lags;
    std::vector<std::uint16_t> stream_lags;  // the classes of edges between kernels and fills of a stream
    std::vector<std::uint16_t> node_lags;    // those of them between nodes of one graph
    std::vector<StringId> threads;           // keys
    // Recorded time of a thread's first point; the least time if a hand-over begins it.
    std::vector<TimeNs> thread_start;
    std::vector<ReplayStream> streams;
    WorkByPoint recorded_work;  // empty when the recorder's cost is unknown
    // The points of a step's completion: the host's end (none if steps come from the device), and of each stream the last copy to the
    // device and the last other op.
    struct Completion {
        Point host = kNoPoint;
        std::vector<Point> ops;
    };
    std::vector<Completion> steps;

    std::uint64_t ops = 0;               // op points
    std::uint64_t ops_without_call = 0;  // ops whose call was not recorded
    std::uint64_t backward_edges = 0;    // edges not made because they would go backward
    std::uint64_t inferred_events = 0;   // event edges that were inferred from the order of ops
    std::uint64_t recorded_events = 0;   // event edges that were recorded
    std::uint64_t unsure_events = 0;     // waits for events that may or may not be edges
    std::uint64_t unsure_syncs = 0;      // sync calls with two possible streams
    Point reach = 0;                     // how many points an edge goes forward at most
    DurNs unexplained_ns = 0;            // sum of how much later ops of steps started than every edge says
    std::vector<StringId> independent;   // submitting threads without a dependence on another thread
    std::string why_not;                 // why no graph could be built; "" if it was

    std::size_t points() const { return info.size(); }
    static ReplayGraph make(const Facts& facts);
};

constexpr std::uint32_t kOpRowBits = 30;
constexpr std::uint32_t op_code(DeviceOp kind, Row row) { return static_cast<std::uint32_t>(kind) << kOpRowBits | row; }
constexpr DeviceOp op_kind(std::uint32_t code) { return static_cast<DeviceOp>(code >> kOpRowBits); }
constexpr Row op_row(std::uint32_t code) { return code & ((1u << kOpRowBits) - 1); }

// A recording with something changed: lengths of ops and host time, lags, and edges that no longer hold. Points stay.
struct Scenario {
    PointLengths length;
    std::vector<LagClass> lags;
    std::array<bool, kEdgeKinds> in_steps{};  // whether edges of a kind hold inside steps
    std::array<bool, kEdgeKinds> between{};   // between them
    std::array<bool, kEdgeKinds> outside{};   // and before the first and after the last
    // Whether calls in a stretch wait for the device, if that is set apart.
    std::array<std::optional<bool>, 3> waits_in_stretch{};
    bool residuals = true;

    explicit Scenario(const ReplayGraph& graph) { reset(graph); }
    // Nothing changed; or as in another scenario. Keeps its memory.
    void reset(const ReplayGraph& graph);
    void reset(const Scenario& to);
    // In the loop: in steps and between them.
    void set(EdgeKind kind, bool holds) {
        in_steps[static_cast<std::size_t>(kind)] = between[static_cast<std::size_t>(kind)] = holds;
    }
    void drop(EdgeKind kind) { set(kind, false); }
    std::optional<bool>& waits_in(EngineStretch stretch) { return waits_in_stretch[static_cast<std::size_t>(stretch)]; }
    bool holds(EdgeKind kind, const PointInfo& to) const {
        if (to.stretch != EngineStretch::none && (kind == EdgeKind::sync_return || kind == EdgeKind::copy_to_host))
            if (auto apart = waits_in_stretch[static_cast<std::size_t>(to.stretch)]; apart) return *apart;
        const std::array<bool, kEdgeKinds>& around = to.between ? between : outside;
        return (to.in_step ? in_steps : around)[static_cast<std::size_t>(kind)];
    }
    DurNs lag_of(const ReplayEdge& edge) const {
        const LagClass& of = lags[edge.lag];
        // A thread takes over as late as it was recorded: there is no class of such delays.
        bool exact = residuals || edge.kind == EdgeKind::hand_over;
        DurNs residual = exact ? edge.residual + of.extra : 0;
        DurNs lag = of.lag + residual;
        // A shorter lag makes no ops overlap that did not.
        if (of.lag < of.recorded) lag = std::max(lag, std::min<DurNs>(0, of.recorded + residual));
        return edge.from_end ? lag + length[edge.source] : lag;
    }
};

// The recorded start of the op with this code.
TimeNs recorded_start(const Trace& trace, std::uint32_t code);

// The time of each point. Points without a dependence keep their recorded time, which `trace` has.
PodVector<TimeNs> replay_times(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace);

// When each step was complete: its host end or the end of the last op that it launched, whichever is later. Before the completion of a
// single step comes its beginning.
std::vector<TimeNs> completions(const ReplayGraph& graph, const Scenario& scenario, const PodVector<TimeNs>& times);
// The same from a replay that keeps only the times that later points depend on: of a long recording, they fit in the cache of a CPU.
std::vector<TimeNs> replay_completions(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace);

}  // namespace gpuprof::replay
