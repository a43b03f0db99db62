// Ranges on drawn timelines: paths, self time, and which device work belongs to which range.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

// 1 char = 10 ns
// main     |[ProfilerStep#1....][ProfilerStep#2....]|
//          |.[fwd.]..[bwd.....]..[fwd.]..[bwd.....].|
//          |..1................|...3................|   launches
// autograd |..........2........|..........4.........|
Trace trained() {
    Draft draft;
    for (int step = 0; step < 2; ++step) {
        TimeNs at = 200 * step;
        int id = 2 * step;
        draft.range("main", at, at + 200, step == 0 ? "ProfilerStep#1" : "ProfilerStep#2");
        draft.range("main", at + 10, at + 70, "fwd");
        draft.range("main", at + 90, at + 190, "bwd");
        draft.call("main", at + 20, at + 30, "cudaLaunchKernel", id + 1);
        draft.call("autograd", at + 100, at + 110, "cudaLaunchKernel", id + 2);
        draft.kernel(0, 7, at + 40, at + 80, "f", id + 1);
        draft.kernel(0, 7, at + 120, at + 220, "b", id + 2);
    }
    return draft.finish();
}

TEST(Ranges, PathsAndHostTimes) {
    Trace trace = trained();
    ReadTable table(trace, "ranges");
    ASSERT_EQ(table.rows(), 3u);
    std::size_t step = table.find("path", "ProfilerStep*");
    EXPECT_EQ(step, 0u);
    EXPECT_EQ(table.integer(step, "count"), 2);
    EXPECT_EQ(table.integer(step, "host_total_ns"), 400);
    EXPECT_EQ(table.integer(step, "host_self_ns"), 80);
    std::size_t bwd = table.find("path", "ProfilerStep*/bwd");
    EXPECT_EQ(table.integer(bwd, "host_total_ns"), 200);
    EXPECT_DOUBLE_EQ(table.real(bwd, "host_mean_ns"), 100);
    EXPECT_EQ(table.integer(bwd, "p95_ns"), 100);
}

TEST(Ranges, DeviceWorkOfAnotherThreadsCalls) {
    Trace trace = trained();
    ReadTable table(trace, "ranges");
    std::size_t fwd = table.find("path", "ProfilerStep*/fwd"), bwd = table.find("path", "ProfilerStep*/bwd");
    EXPECT_EQ(table.integer(fwd, "gpu_busy_ns"), 80);
    EXPECT_EQ(table.integer(bwd, "gpu_busy_ns"), 200);  // launched by the autograd thread
    EXPECT_EQ(table.integer(0, "kernels"), 4);
    EXPECT_EQ(table.integer(0, "gpu_busy_ns"), 280);
    EXPECT_EQ(table.integer(0, "gpu_span_ns"), 180 + 180);
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("2 calls"), std::string::npos);
}

// Two instances whose device work overlaps: busy counts the shared time once, and each device for itself.
TEST(Ranges, BusyIsAUnionPerDevice) {
    Draft draft;
    for (int i = 0; i < 2; ++i) {
        draft.range("main", 100 * i, 100 * i + 50, "copy");
        draft.call("main", 100 * i, 100 * i + 10, "cudaMemcpyAsync", i + 1);
    }
    draft.memcpy(0, 7, 20, 220, "HtoD", 8, 1);
    draft.memcpy(0, 8, 120, 320, "HtoD", 8, 2);
    draft.memcpy(1, 7, 120, 130, "HtoD", 8, 2);
    Trace trace = draft.finish();
    ReadTable table(trace, "ranges");
    EXPECT_EQ(table.integer(0, "gpu_busy_ns"), 300 + 10);
    EXPECT_EQ(table.integer(0, "gpu_span_ns"), 200 + 200);
    EXPECT_EQ(table.integer(0, "kernels"), 0);
}

// Overlapping children: |[a......]|  with |.[b...]..| and |...[c....| : b and c share time, c outlasts a.
TEST(Ranges, SelfCountsSharedTimeOnce) {
    Draft draft;
    draft.range("t", 0, 100, "a");
    draft.range("t", 20, 60, "b");
    draft.range("t", 40, 150, "c");
    Trace trace = draft.finish();
    ReadTable table(trace, "ranges");
    EXPECT_EQ(table.integer(table.find("path", "a"), "host_self_ns"), 20);
    EXPECT_EQ(table.integer(table.find("path", "a/b"), "host_self_ns"), 20);  // c began inside b
    EXPECT_EQ(table.integer(table.find("path", "a/b/c"), "host_total_ns"), 110);
}

TEST(Ranges, WithoutCallsDeviceColumnsAreAbsent) {
    Draft draft;
    draft.range("t", 0, 100, "a");
    draft.kernel(0, 7, 10, 20, "k");
    Trace trace = draft.finish();
    ReadTable table(trace, "ranges");
    for (const char* column : {"gpu_span_ns", "gpu_busy_ns", "kernels"}) EXPECT_TRUE(table.absent(0, column)) << column;
    EXPECT_EQ(table.notes().size(), 1u);
}

TEST(Ranges, VeryDeepPathsAreShortened) {
    Draft draft;
    for (int depth = 0; depth < 300; ++depth) draft.range("t", depth, 1000 - depth, "r" + std::to_string(depth));
    Trace trace = draft.finish();
    ReadTable table(trace, "ranges");
    ASSERT_EQ(table.rows(), 300u);
    std::string last = table.text(299, "path");
    EXPECT_TRUE(last.starts_with("r0/r1/"));
    EXPECT_TRUE(last.ends_with("/r49/.../r250/" + last.substr(last.find("r251"))));
}

}  // namespace
}  // namespace gpuprof
