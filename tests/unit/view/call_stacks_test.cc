// Call stacks on drawn timelines: which frame each event, each op and each piece of idle time is in; no time is lost.
#include "present/view/call_stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "present/view/scene.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

// 1 char = 10 ns
// main   |[step#1.............][step#2.............]|
//        |..[op.].........L......[op.].........L....|     L launch
//        |...L....................L.................|
// device |......AAA..........BBB......AAA..........BBB.|
Trace training() {
    Draft draft;
    for (int step = 0; step < 2; ++step) {
        TimeNs at = 200 * step;
        int id = 2 * step;
        draft.range("main", at, at + 200, step == 0 ? "step#1" : "step#2");
        draft.range("main", at + 20, at + 60, "op");
        draft.call("main", at + 30, at + 40, "cudaLaunchKernel", id + 1);
        draft.call("main", at + 150, at + 160, "cudaLaunchKernel", id + 2);
        draft.kernel(0, 7, at + 60, at + 90, "A", id + 1);
        draft.kernel(0, 7, at + 190, at + 220, "B", id + 2);
    }
    return draft.finish();
}

// Time and count by stack, "step*/op", from frames of slices.
using ByStack = std::map<std::string, std::pair<DurNs, int>>;

std::string stack_of(const CallStacks& stacks, std::uint32_t frame) {
    std::string path(stacks.names[stacks.frames[frame].name]);
    for (std::uint32_t at = stacks.frames[frame].parent; at != kNoFrame; at = stacks.frames[at].parent)
        path = std::string(stacks.names[stacks.frames[at].name]) + "/" + path;
    return path;
}

ByStack by_stack(const Scene& scene, const CallStacks& stacks) {
    ByStack sums;
    for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane)
        for (std::size_t i = 0; i < stacks.of_lane[lane].size(); ++i) {
            auto& [time, count] = sums[stack_of(stacks, stacks.frame(lane, i))];
            time += scene.lanes[lane].slices[i].dur;
            ++count;
        }
    return sums;
}

TEST(CallStacks, NestByTimeAndNamesLoseTheirNumber) {
    Trace trace = training();
    Facts facts(trace, {});
    Scene scene = make_scene(facts);
    ByStack sums = by_stack(scene, call_stacks(trace, scene, facts.get<GraphOrigins>()));
    std::string thread;
    for (const Track& track : scene.tracks)
        if (track.kind == "thread") thread = track.name;
    EXPECT_EQ(sums[thread + "/step*"], std::pair(DurNs{400}, 2));
    EXPECT_EQ(sums[thread + "/step*/op"], std::pair(DurNs{80}, 2));
    EXPECT_EQ(sums[thread + "/step*/op/cudaLaunchKernel"], std::pair(DurNs{20}, 2));
    EXPECT_EQ(sums[thread + "/step*/cudaLaunchKernel"], std::pair(DurNs{20}, 2));
    EXPECT_EQ(sums[thread + "/step*/op/cudaLaunchKernel/A"], std::pair(DurNs{60}, 2));
    EXPECT_EQ(sums[thread + "/step*/cudaLaunchKernel/B"], std::pair(DurNs{60}, 2));
}

TEST(CallStacks, IdleTimeIsCompleteAndBelowWhatWasOpen) {
    Trace trace = training();
    Facts facts(trace, {});
    Scene scene = make_scene(facts);
    CallStacks stacks = call_stacks(trace, scene, facts.get<GraphOrigins>());
    DurNs idle = 0, below_step = 0, drawn = 0;
    for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
        if (scene.lanes[lane].table != SliceTable::gap) continue;
        for (const Slice& slice : scene.lanes[lane].slices) drawn += slice.dur;
        ASSERT_EQ(stacks.of_lane[lane].size(), scene.lanes[lane].slices.size());
        for (std::size_t i = 0; i < stacks.of_lane[lane].size(); ++i) {
            const StackFrame& frame = stacks.frames[stacks.frame(lane, i)];
            EXPECT_EQ(frame.table, SliceTable::gap);
            idle += scene.lanes[lane].slices[i].dur;
            if (stack_of(stacks, stacks.frame(lane, i)).find("step*") != std::string::npos)
                below_step += scene.lanes[lane].slices[i].dur;
        }
    }
    EXPECT_EQ(idle, drawn);
    EXPECT_EQ(idle, 420 - 4 * 30);
    EXPECT_EQ(below_step, idle);  // every piece lies in one of the two steps
}

// Without the thread above each stack.
ByStack sums_below_threads(Draft& draft) {
    Trace trace = draft.finish();
    Facts facts(trace, {});
    Scene scene = make_scene(facts);
    ByStack sums;
    for (const auto& [stack, sum] : by_stack(scene, call_stacks(trace, scene, facts.get<GraphOrigins>())))
        sums[stack.substr(stack.find('/') + 1)] = sum;
    return sums;
}

// Device work is below the stack of its launch, and that below what was open around the launch. The host's own time is not.
TEST(CallStacks, AStackOfALaunchIsAboveItsWork) {
    Draft draft;
    draft.range("main", 0, 100, "step");
    draft.call("main", 10, 20, "cudaLaunchKernel", 1);
    draft.stack("train (a.py:1);at::mm (libtorch.so)");
    draft.call("main", 30, 40, "cudaLaunchKernel", 2);
    draft.stack("train (a.py:1);at::mm (libtorch.so)");
    draft.call("main", 50, 60, "cudaLaunchKernel", 3);
    draft.kernel(0, 7, 25, 35, "A", 1);
    draft.kernel(0, 7, 45, 55, "A", 2);
    draft.kernel(0, 7, 65, 75, "A", 3);
    ByStack sums = sums_below_threads(draft);
    EXPECT_EQ(sums["step/train (a.py:1)/at::mm (libtorch.so)/cudaLaunchKernel/A"], std::pair(DurNs{20}, 2));
    EXPECT_EQ(sums["step/cudaLaunchKernel/A"], std::pair(DurNs{10}, 1));
    EXPECT_EQ(sums["step/cudaLaunchKernel"], std::pair(DurNs{30}, 3));
}

// Between the launch of a CUDA graph and a kernel of it is the operator that was captured.
TEST(CallStacks, AKernelOfAGraphIsBelowItsOperator) {
    Draft draft;
    draft.call("main", 10, 20, "cudaGraphLaunch", 1);
    draft.kernel(0, 7, 25, 35, "A", 1);
    draft.kernel(0, 7, 45, 75, "B", 1);
    KernelTable& kernels = draft.tables().kernel;
    GraphNodeTable& nodes = draft.tables().graph_node;
    for (std::int64_t id : {5, 6}) {
        kernels.graph_node_id.set(static_cast<Row>(id - 5), id);
        Row node = nodes.add();
        nodes.time.set(node, 1);
        nodes.graph_node_id.set(node, id);
        nodes.action.set(node, draft.intern("created"));
        if (kernels.process.has(0)) nodes.process.set(node, kernels.process[0]);
        if (id == 5) nodes.op.set(node, draft.intern("aten::mm"));
    }
    ByStack sums = sums_below_threads(draft);
    EXPECT_EQ(sums["cudaGraphLaunch/aten::mm/A"], std::pair(DurNs{10}, 1));
    EXPECT_EQ(sums["cudaGraphLaunch/B"], std::pair(DurNs{30}, 1));
    EXPECT_EQ(sums["cudaGraphLaunch"], std::pair(DurNs{10}, 1));
}

// An event that outlives the one it started in is not below it.
TEST(CallStacks, AnEventIsInsideTheEventsOfItsStack) {
    Draft draft;
    draft.range("main", 0, 100, "outer");
    draft.range("main", 50, 150, "late");
    draft.range("main", 60, 90, "inner");
    draft.kernel(0, 7, 10, 20, "unlaunched", 9);
    Trace trace = draft.finish();
    Facts facts(trace, {});
    Scene scene = make_scene(facts);
    CallStacks found = call_stacks(trace, scene, facts.get<GraphOrigins>());
    ByStack sums = by_stack(scene, found);
    std::vector<std::string> stacks;
    for (const auto& [stack, sum] : sums)
        stacks.push_back(stack.substr(stack.find('/') == std::string::npos ? 0 : stack.find('/')));
    EXPECT_NE(std::find(stacks.begin(), stacks.end(), "/outer/late"), stacks.end());
    EXPECT_NE(std::find(stacks.begin(), stacks.end(), "/outer/late/inner"), stacks.end());
    ASSERT_EQ(found.cuts.size(), 1u);  // where outer ends, the rest of late lies on the thread alone
    EXPECT_EQ(found.cuts[0].time - trace.range().start[0], 100);
    EXPECT_TRUE(stack_of(found, found.cuts[0].frame).ends_with("/late"));
    EXPECT_FALSE(stack_of(found, found.cuts[0].frame).ends_with("/outer/late"));
    EXPECT_NE(std::find(stacks.begin(), stacks.end(), "unlaunched"), stacks.end());
}

TEST(CallStacks, PlainNames) {
    for (auto [name, plain] : std::vector<std::pair<std::string, std::string>>{{"step#12", "step*"},
                                                                               {"aten::add, op_id = 7", "aten::add"},
                                                                               {"a, x = 1, y = 22 b", "a b"},
                                                                               {"a, = 1", "a, = 1"},
                                                                               {"a, x = ", "a, x = "},
                                                                               {"a#b", "a#b"},
                                                                               {"#1", "*"},
                                                                               {"", ""}})
        EXPECT_EQ(plain_name(name), plain);
}

}  // namespace
}  // namespace gpuprof
