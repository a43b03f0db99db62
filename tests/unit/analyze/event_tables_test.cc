// Analyses by the names of nsys reports: single events in the order of time, calls of the system, migrations of managed memory.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void os_call(Draft& draft, std::string_view thread, TimeNs start, TimeNs end, std::string_view name) {
    OsCallTable& table = draft.tables().os_call;
    Row row = table.add();
    table.start.set(row, start);
    table.dur.set(row, end - start);
    table.thread.set(row, draft.thread_key(thread));
    table.name.set(row, draft.intern(name));
}

TEST(GpuTrace, MergesTheThreeTablesByStart) {
    Draft draft;
    draft.kernel(0, 7, 100, 200, "b", 2);
    draft.memcpy(0, 8, 50, 90, "HtoD", 4000, 1);
    draft.memset(1, 7, 150, 160, 64);
    draft.kernel(1, 7, 20, 30, "a");
    Trace trace = draft.finish();
    ReadTable table(trace, "cuda_gpu_trace");
    ASSERT_EQ(table.rows(), 4u);
    EXPECT_EQ(table.text(0, "name"), "a");
    EXPECT_EQ(table.integer(0, "start_ns"), 0);
    EXPECT_EQ(table.text(1, "kind"), "memcpy");
    EXPECT_EQ(table.integer(1, "start_ns"), 30);
    EXPECT_DOUBLE_EQ(table.real(1, "gb_per_s"), 100);
    EXPECT_EQ(table.text(2, "name"), "b");
    EXPECT_EQ(table.text(3, "kind"), "memset");
    EXPECT_TRUE(table.absent(3, "grid"));
}

TEST(GpuTrace, KeepsToTheDeviceAndTheLimit) {
    Draft draft;
    for (int i = 0; i < 10; ++i) draft.kernel(i % 2, 7, 10 * i, 10 * i + 5, "k");
    draft.memset(1, 7, 1000, 1010, 64);
    Trace trace = draft.finish();
    Options options;
    options.device = 1;
    options.limit = 4;
    ReadTable table(trace, "gpu_trace", options);
    ASSERT_EQ(table.rows(), 4u);
    EXPECT_EQ(table.table().omitted, 2u);
    for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(table.integer(row, "device"), 1);
    options.limit = 0;
    EXPECT_EQ(ReadTable(trace, "gpu_trace", options).rows(), 6u);
}

TEST(RangeTrace, SaysHowDeepAndInOrderOverThreads) {
    Draft draft;
    draft.range("main", 0, 100, "step");
    draft.range("main", 20, 60, "forward");
    draft.range("other", 10, 30, "load");
    Trace trace = draft.finish();
    ReadTable table(trace, "nvtx_pushpop_trace");
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(table.text(0, "name"), "step");
    EXPECT_EQ(table.integer(0, "self_ns"), 60);
    EXPECT_EQ(table.text(1, "name"), "load");
    EXPECT_EQ(table.integer(1, "level"), 0);
    EXPECT_EQ(table.text(2, "name"), "forward");
    EXPECT_EQ(table.integer(2, "level"), 1);
}

TEST(OsCalls, AddUpByFunction) {
    Draft draft;
    os_call(draft, "main", 0, 100, "poll");
    os_call(draft, "other", 50, 350, "poll");
    os_call(draft, "main", 200, 300, "ioctl");
    Trace trace = draft.finish();
    ReadTable table(trace, "osrt_sum");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "name"), "poll");
    EXPECT_EQ(table.integer(0, "total_ns"), 400);
    EXPECT_DOUBLE_EQ(table.real(0, "share_pct"), 80);
    EXPECT_EQ(table.integer(0, "threads"), 2);
    ReadTable calls(trace, "osrt_trace");
    ASSERT_EQ(calls.rows(), 3u);
    EXPECT_EQ(calls.text(2, "name"), "ioctl");
}

TEST(UnifiedMemory, IsWhatMovedWithoutACall) {
    Draft draft;
    auto managed = [&](Row row) {
        draft.tables().memcpy.src.change(row, draft.intern("managed"));
        draft.tables().memcpy.dst.change(row, draft.intern("managed"));
    };
    managed(draft.memcpy(0, 7, 0, 100, "HtoD", 1000));
    managed(draft.memcpy(0, 7, 200, 300, "HtoD", 3000));
    managed(draft.memcpy(0, 7, 400, 500, "DtoH", 500));
    draft.memcpy(0, 7, 600, 700, "HtoD", 9000);  // of pinned memory
    draft.call("main", 690, 700, "cudaMemcpyAsync", 5);
    managed(draft.memcpy(0, 7, 800, 900, "DtoD", 9000, 5));  // somebody asked for it
    Trace trace = draft.finish();
    ReadTable table(trace, "um_sum");
    ASSERT_EQ(table.rows(), 2u);
    std::size_t to_device = table.find("direction", "HtoD");
    EXPECT_EQ(table.integer(to_device, "count"), 2);
    EXPECT_EQ(table.integer(to_device, "bytes"), 4000);
    EXPECT_DOUBLE_EQ(table.real(to_device, "gb_per_s"), 20);
    EXPECT_EQ(trace.links().counts.unmatched(), 1u);  // the copy of pinned memory
}

}  // namespace
}  // namespace gpuprof
