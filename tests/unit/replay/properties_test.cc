// What must hold of every replay, on recordings of real programs.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <tuple>

#include "analyze/facts/facts.h"
#include "analyze/replay/prediction.h"
#include "core/model/build/merge_traces.h"
#include "tests/unit/replay/recordings.h"

namespace gpuprof::test {
namespace {

constexpr Point kShown = 3;  // failures of a recording that are printed

// Recorded times of points; absent for cuts, which are no event of the recording.
std::optional<TimeNs> recorded_time(const ReplayGraph& graph, const Trace& trace, Point p) {
    std::uint32_t object = graph.object[p];
    const ApiCallTable& calls = trace.api_call();
    switch (graph.info[p].kind) {
        case PointKind::op: return recorded_start(trace, object);
        case PointKind::call_start: return calls.start[object];
        case PointKind::call_end: return calls.start[object] + calls.dur[object];
        case PointKind::cut: break;
    }
    return std::nullopt;
}

class ReplayOfRecording : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        Result<Trace> opened = open_file(GetParam());
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        trace_ = std::move(opened).value();
        facts_ = std::make_unique<Facts>(trace_, Options{});
        graph_ = &facts_->get<ReplayGraph>();
        if (!graph_->why_not.empty()) GTEST_SKIP() << graph_->why_not;
    }
    PodVector<TimeNs> replayed(const Scenario& scenario) const { return replay_times(*graph_, scenario, trace_); }
    std::vector<TimeNs> completed(const Scenario& scenario) const {
        return completions(*graph_, scenario, replayed(scenario));
    }

    Trace trace_;
    std::unique_ptr<Facts> facts_;
    const ReplayGraph* graph_ = nullptr;
};

TEST_P(ReplayOfRecording, NeedsOnlyTheFactsForReplays) {
    const WhatIf& found = facts_->get<WhatIf>();
    Trace trace = copy_of(trace_);
    const std::unique_ptr<const Facts> few = facts_for_replays(Facts(trace, Options{}));
    make_graph(*few, trace);
    EXPECT_TRUE(trace.kernel().grid_x.none_present());
    EXPECT_TRUE(trace.api_call().correlation.none_present());
    const WhatIf& again = few->get<WhatIf>();
    EXPECT_EQ(few->get<ReplayValidity>().why_not, facts_->get<ReplayValidity>().why_not);
    EXPECT_EQ(again.steps, found.steps);
    EXPECT_EQ(again.floor, found.floor);
    ASSERT_EQ(again.plan.size(), found.plan.size());
    for (std::size_t i = 0; i < found.plan.size(); ++i) EXPECT_EQ(again.plan[i].gain_low, found.plan[i].gain_low);
}

TEST_P(ReplayOfRecording, IsTheRecordingIfUnchanged) {
    PodVector<TimeNs> times = replayed(Scenario(*graph_));
    std::uint64_t wrong = 0;
    for (Point p = 0; p < graph_->points(); ++p) {
        std::optional<TimeNs> recorded = recorded_time(*graph_, trace_, p);
        if (recorded && times[p] != *recorded && wrong++ < kShown)
            ADD_FAILURE() << "point " << p << " is " << times[p] - *recorded << " ns late";
    }
    EXPECT_EQ(wrong, 0u) << "of " << graph_->points();
}

std::vector<Interval> recorded_times(const CriticalPath& path, const ReplayGraph& graph, const Trace& trace) {
    std::vector<Interval> times;
    if (path.parts.empty()) return times;
    RecordedTimes recorded(graph, trace);
    for (const PathPart& part : path.parts) times.push_back(recorded.of(part));
    return times;
}

// Unchanged, the path is the recording. Without the recorder's cost, its parts keep their order and lie in the recorded steps.
TEST_P(ReplayOfRecording, HasItsCriticalPathAtRecordedTimes) {
    Scenario unchanged(*graph_);
    CriticalPath path = critical_path(*graph_, unchanged, replayed(unchanged));
    std::vector<Interval> times = recorded_times(path, *graph_, trace_);
    ASSERT_EQ(times.size(), path.parts.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        const PathPart& part = path.parts[i];
        ASSERT_EQ(times[i], (Interval{part.start, part.start + part.dur})) << "part " << i;
    }
    // What sees the parts gets the same, in the same order.
    std::size_t seen = 0;
    CriticalPath shown = critical_path(*graph_, unchanged, replayed(unchanged), [&](const PathPart& part) {
        ASSERT_LT(seen, path.parts.size());
        EXPECT_EQ(std::tuple(part.point, part.source, part.start, part.dur),
                  std::tuple(path.parts[seen].point, path.parts[seen].source, times[seen].start, times[seen].length()));
        ++seen;
    });
    EXPECT_EQ(std::tuple(seen, shown.parts.size(), shown.total), std::tuple(path.parts.size(), 0u, path.total));
    path = critical_path_of(*facts_, Estimate::central);
    times = recorded_times(path, *graph_, trace_);
    if (times.empty()) return;
    std::vector<TimeNs> steps = completed(unchanged);
    EXPECT_LE(times.front().end, steps.back());
    EXPECT_GE(times.back().start, steps.front());
    for (std::size_t i = 1; i < times.size(); ++i) ASSERT_LE(times[i].end, times[i - 1].start) << "part " << i;
}

TEST_P(ReplayOfRecording, HasOnlyEdgesThatGoForward) {
    PodVector<TimeNs> times = replayed(Scenario(*graph_));
    ASSERT_EQ(graph_->first_edge.size(), graph_->points() + 1);
    EXPECT_EQ(graph_->first_edge[graph_->points()], graph_->edges.size());
    std::uint64_t wrong = 0;
    for (Point p = 0; p < graph_->points(); ++p)
        for (std::uint32_t e = graph_->first_edge[p]; e < graph_->first_edge[p + 1]; ++e) {
            Point source = graph_->edges[e].source;
            wrong += source >= p || times[source] > times[p];
        }
    EXPECT_EQ(wrong, 0u) << "of " << graph_->edges.size();
}

TEST_P(ReplayOfRecording, IsNeverLaterWithAnythingShorter) {
    PodVector<TimeNs> before = replayed(Scenario(*graph_));
    std::mt19937 random(1);
    for (int percent : {1, 30, 100}) {
        Scenario scenario(*graph_);
        for (Point p = 0; p < graph_->points(); ++p)
            if (static_cast<int>(random() % 100) < percent) scenario.length.set(p, scenario.length[p] / 2);
        PodVector<TimeNs> times = replayed(scenario);
        std::uint64_t wrong = 0;
        for (Point p = 0; p < graph_->points(); ++p)
            if (times[p] > before[p] && wrong++ < kShown)
                ADD_FAILURE() << "point " << p << " is " << times[p] - before[p] << " ns later";
        EXPECT_EQ(wrong, 0u) << percent << " % of the points halved";
    }
}

// Every edit that says something about the recording: the usual changes, and faster kernels.
std::vector<Edit> edits_of(const Facts& facts, const ReplayGraph& graph) {
    std::vector<Edit> edits;
    auto add = [&](const Edit& edit) {
        Scenario scenario(graph);
        if (apply(edit, facts, graph, scenario)) edits.push_back(edit);
    };
    for (std::size_t i = 0; i < kUsualChanges; ++i) add(usual_edit(static_cast<Change>(i)));
    add({Change::kernels, 0.5, "."});
    return edits;
}

// A fused kernel may end later than the last of its chain began, so changes that fuse are not among these.
TEST_P(ReplayOfRecording, IsNeverLaterWithMoreChanges) {
    std::vector<Edit> edits = edits_of(*facts_, *graph_);
    std::erase_if(edits, [](const Edit& edit) {
        return edit.change == Change::fusion || edit.change == Change::fused_attention ||
               edit.change == Change::fused_optimizer || edit.change == Change::one_layout;
    });
    std::vector<std::vector<TimeNs>> by_set(std::size_t{1} << edits.size());
    for (std::size_t set = 0; set < by_set.size(); ++set) {
        Scenario scenario(*graph_);
        for (std::size_t i = 0; i < edits.size(); ++i)
            if ((set >> i & 1) != 0) apply(edits[i], *facts_, *graph_, scenario);
        by_set[set] = completed(scenario);
        for (std::size_t i = 0; i < edits.size(); ++i) {
            if ((set >> i & 1) == 0) continue;
            const std::vector<TimeNs>& subset = by_set[set & ~(std::size_t{1} << i)];
            for (std::size_t step = 0; step < subset.size(); ++step)
                ASSERT_LE(by_set[set][step], subset[step])
                    << "step " << step << ", changes " << set << ", with " << text_of(edits[i]);
        }
    }
}

// What ops of a stream need at least, from the end of one to the end of another: their lengths, less what overlaps in the recording.
class StreamWork {
public:
    StreamWork(const ReplayGraph& graph, const Trace& trace)
        : graph_(graph), trace_(trace), until_(graph.streams.size(), kNever) {}
    // Work that `p` adds, in the order of points.
    DurNs add(Point p, DurNs length) {
        TimeNs start = recorded_start(trace_, graph_.object[p]);
        TimeNs& until = until_[graph_.info[p].lane];
        DurNs overlap = until == kNever ? 0 : std::max<DurNs>(0, until - start);
        until = std::max(until, start + graph_.length[p]);
        return std::max<DurNs>(0, length - overlap);
    }

private:
    static constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();
    const ReplayGraph& graph_;
    const Trace& trace_;
    std::vector<TimeNs> until_;
};

// From the end of a stream's kernels in the first step to the completion of the last, all its kernels in between must run.
void expect_room_for_kernels(const ReplayGraph& graph, const Scenario& scenario, const Trace& trace,
                             const std::string& what) {
    PodVector<TimeNs> times = replay_times(graph, scenario, trace);
    TimeNs completed = completions(graph, scenario, times).back();
    std::vector<Point> first = graph.steps.front().ops;
    for (Point from : first) {
        StreamWork work(graph, trace);
        DurNs needed = 0;
        for (Point p = 0; p < graph.points(); ++p) {
            if (graph.info[p].kind != PointKind::op || graph.info[p].lane != graph.info[from].lane) continue;
            DurNs more = work.add(p, scenario.length[p]);
            if (p > from && graph.info[p].in_step && op_kind(graph.object[p]) == DeviceOp::kernel) needed += more;
        }
        EXPECT_GE(completed - (times[from] + scenario.length[from]), needed)
            << what << ", stream " << graph.streams[graph.info[from].lane].stream;
    }
}

TEST_P(ReplayOfRecording, LeavesRoomForTheKernels) {
    if (graph_->steps.size() < 2) GTEST_SKIP() << "no steps";
    for (const auto& step : graph_->steps)
        if (step.ops.empty()) GTEST_SKIP() << "a step without work";
    std::vector<Edit> edits = edits_of(*facts_, *graph_);
    for (std::size_t i = 0; i < edits.size(); ++i)
        for (std::size_t j = i; j < edits.size(); ++j)
            for (bool residuals : {true, false}) {
                Scenario scenario(*graph_);
                scenario.residuals = residuals;
                apply(edits[i], *facts_, *graph_, scenario);
                if (j != i) apply(edits[j], *facts_, *graph_, scenario);
                expect_room_for_kernels(*graph_, scenario, trace_, text_of(edits[i]) + "; " + text_of(edits[j]));
            }
}

Trace shifted(const std::string& file, DurNs by) {
    Trace trace = open_file(file).value();
    TraceBuilder builder(trace.origin());
    builder.append(batch_of(std::move(trace)));
    builder.set_time_base(by);
    return std::move(builder).finish();
}

TEST_P(ReplayOfRecording, DoesNotDependOnTheTimeOfDay) {
    constexpr DurNs kLater = 1'000'000'007;
    Trace other = shifted(GetParam(), kLater);
    ASSERT_EQ(other.window().start, trace_.window().start + kLater);
    Facts later(other, {});
    const ReplayGraph& graph = later.get<ReplayGraph>();
    ASSERT_EQ(graph.points(), graph_->points());
    EXPECT_EQ(graph.edges.size(), graph_->edges.size());
    EXPECT_EQ(later.get<ReplayValidity>().why_not, facts_->get<ReplayValidity>().why_not);
    for (const Edit& edit : edits_of(*facts_, *graph_)) {
        Scenario here(*graph_), there(graph);
        apply(edit, *facts_, *graph_, here);
        apply(edit, later, graph, there);
        std::vector<TimeNs> wanted = completed(here);
        for (TimeNs& time : wanted) time += kLater;
        EXPECT_EQ(completions(graph, there, replay_times(graph, there, other)), wanted) << text_of(edit);
    }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, ReplayOfRecording, testing::ValuesIn(recordings()),
                         [](const auto& file) { return test_name(file.param); });

}  // namespace
}  // namespace gpuprof::test
