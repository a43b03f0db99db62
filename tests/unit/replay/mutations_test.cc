// Each kind of edge earns its place: without it a replay of the unchanged recording can still be exact, and its predictions are wrong.
//
// The edges are taken out of the graph, and what they bound gets the recorded time by another way: host points a length, ops a
// residual. A graph that never had these edges would be the same.
#include <gtest/gtest.h>

#include <cmath>

#include "analyze/facts/facts.h"
#include "analyze/replay/changes.h"
#include "tests/unit/replay/programs.h"

namespace gpuprof::test {
namespace {

constexpr double kWrong = 0.05, kRight = 0.001;  // of the step time

using Keeps = std::function<bool(Point to, const ReplayEdge&)>;

// The graph with some of its edges, settled so that it replays to `times` if nothing is changed.
ReplayGraph with_edges(ReplayGraph graph, const PodVector<TimeNs>& times, const Keeps& keeps) {
    PodVector<ReplayEdge> kept;
    EdgeStarts first_edge;
    kept.reserve(graph.edges.size());  // `latest` points into it
    std::vector<Point> last(graph.threads.size(), kNoPoint);
    for (Point p = 0; p < graph.points(); ++p) {
        std::uint32_t from = graph.first_edge[p], to = graph.first_edge[p + 1];
        first_edge.push_back(kept.size());
        Scenario unchanged(graph);
        ReplayEdge* latest = nullptr;
        TimeNs time = 0;
        bool removed = false;
        for (std::uint32_t e = from; e < to; ++e) {
            if (!keeps(p, graph.edges[e])) {
                removed = true;
                continue;
            }
            kept.push_back(graph.edges[e]);
            TimeNs allowed = times[kept.back().source] + unchanged.lag_of(kept.back());
            if (kept.back().kind != EdgeKind::bypass && (latest == nullptr || allowed > time))
                latest = &kept.back(), time = allowed;
        }
        const PointInfo& info = graph.info[p];
        if (info.kind == PointKind::op) {
            if (latest != nullptr) latest->residual += static_cast<std::int32_t>(times[p] - time);
            continue;
        }
        Point& before = last[info.lane];
        if (removed && before != kNoPoint) graph.length.set(p, times[p] - times[before]);
        if (removed && before == kNoPoint) graph.thread_start[info.lane] = times[p];
        before = p;
    }
    first_edge.push_back(kept.size());
    graph.first_edge = std::move(first_edge);
    graph.edges = std::move(kept);
    return graph;
}

struct Mutation {
    const char* name;
    void (*program)(Machine&);
    Altered altered;
    const char* edits;
    // Edges of the kind go; without a kind, those that did not bind.
    std::optional<EdgeKind> removed;
};

const Mutation kMutations[] = {
    {"hand_over", autograd, {.input = 0}, "input", EdgeKind::hand_over},
    {"back_pressure", deep_queue, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::back_pressure},
    {"event", one_buffer, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::event},
    {"sync_return", many_items, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::sync_return},
    {"allocation_return", churn, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::allocation_return},
    {"copy_to_device", copy_behind_kernels, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::copy_to_device},
    {"copy_to_host", pageable_copies, {.kernels = 0.5}, "kernel:.=0.5", EdgeKind::copy_to_host},
    {"not_binding", input_bound, {.input = 0}, "input", std::nullopt},
};

double per_step(const std::vector<TimeNs>& ends) {
    return static_cast<double>(ends.back() - ends.front()) / static_cast<double>(ends.size() - 1);
}

class Mutated : public testing::TestWithParam<Mutation> {};

TEST_P(Mutated, PredictsWrongly) {
    Machine recorded({}), altered(GetParam().altered);
    GetParam().program(recorded), GetParam().program(altered);
    double truth = per_step(altered.completions());
    Trace trace = recorded.recording();
    Facts facts(trace, {});
    const ReplayGraph& graph = facts.get<ReplayGraph>();
    Scenario unchanged(graph);
    PodVector<TimeNs> times = replay_times(graph, unchanged, trace);
    ReplayGraph mutant = with_edges(graph, times, [&](Point to, const ReplayEdge& edge) {
        if (GetParam().removed) return edge.kind != *GetParam().removed;
        return graph.info[to].kind != PointKind::op || times[edge.source] + unchanged.lag_of(edge) == times[to];
    });
    ASSERT_LT(mutant.edges.size(), graph.edges.size());
    Scenario still_unchanged(mutant);
    EXPECT_EQ(completions(mutant, still_unchanged, replay_times(mutant, still_unchanged, trace)),
              completions(graph, unchanged, times));

    std::vector<Edit> edits = parse_edits(GetParam().edits).value();
    auto error = [&](const ReplayGraph& of) {
        Scenario scenario(of);
        for (const Edit& edit : edits) EXPECT_TRUE(apply(edit, facts, of, scenario));
        return std::abs(per_step(completions(of, scenario, replay_times(of, scenario, trace))) / truth - 1);
    };
    EXPECT_LT(error(graph), kRight);
    EXPECT_GT(error(mutant), kWrong);
}

INSTANTIATE_TEST_SUITE_P(Replay, Mutated, testing::ValuesIn(kMutations),
                         [](const auto& mutation) { return std::string(mutation.param.name); });

}  // namespace
}  // namespace gpuprof::test
