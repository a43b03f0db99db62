// Tracks that are computed: queues of streams and states of threads, counted by hand.
#include "present/view/scene.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

using Spans = std::vector<std::pair<TimeNs, TimeNs>>;

// By label, the spans of the lanes on tracks of a kind.
std::map<std::string, Spans> spans_on(const Scene& scene, std::string_view kind) {
    std::map<std::string, Spans> found;
    for (const Lane& lane : scene.lanes)
        if (scene.tracks[lane.track].kind == kind)
            for (const Slice& slice : lane.slices) found[lane.label].emplace_back(slice.start, slice.start + slice.dur);
    return found;
}

void sample(Draft& draft, std::string_view thread, TimeNs from, TimeNs to, DurNs user, DurNs system) {
    CpuSampleTable& table = draft.tables().cpu_sample;
    Row row = table.add();
    table.time.set(row, from);
    table.dur.set(row, to - from);
    table.process.set(row, draft.intern("p"));
    table.thread.set(row, draft.thread_key(thread));
    table.user_ns.set(row, user);
    table.system_ns.set(row, system);
}

void os_call(Draft& draft, std::string_view thread, TimeNs start, TimeNs end) {
    OsCallTable& table = draft.tables().os_call;
    Row row = table.add();
    table.start.set(row, start);
    table.dur.set(row, end - start);
    table.thread.set(row, draft.thread_key(thread));
    table.name.set(row, draft.intern("poll"));
}

// 1 char = 10 ns
// main     |L...L....[cudaStreamSynchronize].|
// device   |...AAAAAAAAAAA...BBBBBBBBBBB.....|
// CPU      |all.......|half....|nothing......|
// system   |.....................poll........|
TEST(Scene, StatesOfThreads) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    draft.call("main", 40, 50, "cudaLaunchKernel", 2);
    draft.call("main", 90, 240, "cudaStreamSynchronize", 3);
    draft.kernel(0, 7, 30, 140, "A", 1);
    draft.kernel(0, 7, 170, 240, "B", 2);
    sample(draft, "main", 0, 100, 80, 15);
    sample(draft, "main", 100, 200, 30, 20);
    sample(draft, "main", 200, 300, 0, 0);
    os_call(draft, "main", 230, 260);
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Scene scene = make_scene(facts);
    std::map<std::string, Spans> expected = {{"waits for the device", {{90, 240}}},
                                             {"in a system call", {{240, 260}}},
                                             {"on the CPU", {{0, 90}}},
                                             {"off the CPU", {{260, 300}}}};
    EXPECT_EQ(spans_on(scene, "state"), expected);
}

TEST(Scene, AThreadWithoutEventsShowsItsStatesIfItWasActive) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 30, 140, "A", 1);
    sample(draft, "worker", 0, 100, 50, 0);
    sample(draft, "worker", 100, 200, 0, 0);
    sample(draft, "idle", 0, 200, 0, 0);
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    std::map<std::string, Spans> found = spans_on(make_scene(facts), "thread");
    EXPECT_EQ(found["partly on the CPU"], (Spans{{0, 100}}));
    EXPECT_EQ(found["off the CPU"], (Spans{{100, 200}}));
}

TEST(Scene, StatesOfNonsense) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    for (std::int64_t time : {INT64_MIN, INT64_MAX, std::int64_t{0}})
        for (std::int64_t dur : {std::int64_t{-5}, std::int64_t{0}, INT64_MAX}) {
            CpuSampleTable& table = draft.tables().cpu_sample;
            Row row = table.add();
            table.time.set(row, time);
            table.dur.set(row, dur);
            table.thread.set(row, draft.thread_key("main"));
            table.user_ns.set(row, INT64_MAX);
            table.system_ns.set(row, INT64_MAX);
        }
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    EXPECT_TRUE(spans_on(make_scene(facts), "state").empty());
}

// A and C wait for 20 and 110 ns; B starts before its call ends and waits for nothing. The call of D was not recorded.
TEST(Scene, QueuesOfStreams) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    draft.call("main", 30, 40, "cudaLaunchKernel", 2);
    draft.call("main", 40, 50, "cudaLaunchKernel", 3);
    draft.kernel(0, 7, 20, 140, "A", 1);
    draft.kernel(0, 8, 30, 60, "B", 2);
    draft.kernel(0, 7, 150, 160, "C", 3);
    draft.kernel(0, 9, 150, 160, "D");
    Trace trace = draft.finish();
    Facts facts(trace, Options{});
    Scene scene = make_scene(facts);
    std::map<std::string, std::vector<std::pair<TimeNs, double>>> found;
    for (const Lane& lane : scene.lanes)
        if (lane.label == "queued ops") {
            auto stream = static_cast<std::size_t>(scene.tracks[lane.track].parent);
            for (const Value& value : lane.values)
                found[scene.tracks[stream].name].emplace_back(value.time, value.value);
        }
    std::map<std::string, std::vector<std::pair<TimeNs, double>>> expected = {
        {"stream 7", {{0, 1}, {20, 0}, {40, 1}, {150, 0}}}, {"stream 8", {{30, 0}}}};
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace gpuprof
