// Edges of small recordings, counted by eye.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/facts/facts.h"
#include "analyze/replay/graph.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

// Edges of a kind into the points of a kind.
std::ptrdiff_t edges_into(const ReplayGraph& graph, PointKind to, EdgeKind kind) {
    std::ptrdiff_t count = 0;
    for (Point p = 0; p < graph.points(); ++p)
        if (graph.info[p].kind == to)
            count +=
                std::count_if(graph.edges.begin() + graph.first_edge[p], graph.edges.begin() + graph.first_edge[p + 1],
                              [&](const ReplayEdge& edge) { return edge.kind == kind; });
    return count;
}

// The second kernel is late for its launch or for the kernel before it; either way it depends on both.
TEST(ReplayEdges, ThatDoNotBindAreKept) {
    for (TimeNs launched : {10'000, 500'000}) {
        Draft draft;
        draft.call("main", 0, 5'000, "cudaLaunchKernel", 1);
        draft.call("main", launched, launched + 5'000, "cudaLaunchKernel", 2);
        draft.kernel(0, 7, 7'000, 107'000, "gemm", 1);
        TimeNs start = std::max<TimeNs>(108'200, launched + 7'000);
        draft.kernel(0, 7, start, start + 50'000, "gemm", 2);
        Trace trace = draft.finish();
        Facts facts(trace, {});
        const ReplayGraph& graph = facts.get<ReplayGraph>();
        EXPECT_EQ(edges_into(graph, PointKind::op, EdgeKind::launch), 2);
        EXPECT_EQ(edges_into(graph, PointKind::op, EdgeKind::stream), 1);
        EXPECT_EQ(graph.backward_edges, 0u);
    }
}

// Main hands over to autograd's thread and waits for it, three times. `wake` ns lie between the two.
Trace handed_over(DurNs wake) {
    Draft draft;
    std::int64_t id = 0;
    auto launch = [&](const char* thread, TimeNs start) {
        draft.call(thread, start, start + 5'000, "cudaLaunchKernel", ++id);
        draft.kernel(0, 7, start + 3'000, start + 4'000, "gemm", id);
    };
    for (TimeNs begun : {0, 100'000, 200'000}) {
        launch("main", begun);
        for (int i = 0; i < 3; ++i) launch("autograd", begun + 5'000 + wake + i * 35'000);
    }
    launch("main", 300'000);
    return draft.finish();
}

TEST(ReplayEdges, OfHandOversLeadThereAndBack) {
    Trace trace = handed_over(1'000);
    Facts facts(trace, {});
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    EXPECT_EQ(std::count_if(graph.edges.begin(), graph.edges.end(),
                            [](const ReplayEdge& edge) { return edge.kind == EdgeKind::hand_over; }),
              6);
    EXPECT_EQ(graph.backward_edges, 0u);
    EXPECT_TRUE(graph.independent.empty());
}

// At one time the thread with more launches comes first (unless the other is being merged; an op in its call ends that), so that a
// hand-over to it in no time would go backward.
TEST(ReplayEdges, ThatWouldGoBackwardAreNotMadeButCounted) {
    Trace trace = handed_over(0);
    Facts facts(trace, {});
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    EXPECT_EQ(graph.backward_edges, 3u);
    PodVector<TimeNs> times = replay_times(graph, Scenario(graph), trace);
    for (Point p = 0; p < graph.points(); ++p) {
        for (std::uint32_t e = graph.first_edge[p]; e < graph.first_edge[p + 1]; ++e)
            EXPECT_LT(graph.edges[e].source, p);
        if (graph.info[p].kind == PointKind::call_start) {
            EXPECT_EQ(times[p], trace.api_call().start[graph.object[p]]);
        }
    }
}

}  // namespace
}  // namespace gpuprof
