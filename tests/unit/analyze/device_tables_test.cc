// The tables about device work on small timelines counted by hand: kernels, memcpy, memset, launches, streams, overlap.
#include <gtest/gtest.h>

#include "tests/unit/analyze/draft.h"
#include "tests/unit/analyze/read_table.h"

namespace gpuprof {
namespace {

void set_block(Draft& draft, Row row, std::int32_t x, std::int32_t registers) {
    KernelTable& kernels = draft.tables().kernel;
    kernels.block_x.set(row, x);
    kernels.block_y.set(row, 1);
    kernels.block_z.set(row, 1);
    kernels.registers.set(row, registers);
    kernels.shared_bytes.set(row, 0);
}

TEST(Kernels, GroupsByName) {
    Draft draft;
    for (TimeNs at : {0, 100, 200}) set_block(draft, draft.kernel(0, 7, at, at + 10, "gemm"), 256, 32);
    set_block(draft, draft.kernel(1, 7, 300, 370, "gemm"), 256, 64);
    set_block(draft, draft.kernel(0, 7, 400, 500, "add"), 128, 16);
    set_block(draft, draft.kernel(0, 7, 600, 700, "Add"), 128, 16);
    Trace trace = draft.finish();
    ReadTable table(trace, "kernels");
    ASSERT_EQ(table.rows(), 3u);
    EXPECT_EQ(table.text(0, "name"), "Add");  // three totals of 100: by name
    EXPECT_EQ(table.text(1, "name"), "add");
    EXPECT_EQ(table.text(2, "name"), "gemm");
    EXPECT_EQ(table.integer(2, "count"), 4);
    EXPECT_EQ(table.integer(2, "total_ns"), 100);
    EXPECT_DOUBLE_EQ(table.real(2, "share_pct"), 100.0 / 3);
    EXPECT_DOUBLE_EQ(table.real(2, "mean_ns"), 25.0);
    EXPECT_EQ(table.integer(2, "p50_ns"), 10);
    EXPECT_EQ(table.integer(2, "p95_ns"), 70);
    EXPECT_EQ(table.text(2, "block"), "256,1,1");
    EXPECT_TRUE(table.absent(2, "registers"));       // 32 and 64
    EXPECT_TRUE(table.absent(2, "grid"));            // never recorded
    EXPECT_EQ(table.integer(2, "shared_bytes"), 0);  // recorded, and 0
    EXPECT_TRUE(table.absent(2, "occupancy_pct"));   // the device is not in the trace
}

TEST(Kernels, OnlyOneDevice) {
    Draft draft;
    draft.kernel(0, 7, 0, 10, "a");
    draft.kernel(1, 7, 0, 30, "a");
    Trace trace = draft.finish();
    Options options;
    options.device = 1;
    ReadTable table(trace, "kernels", options);
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.integer(0, "total_ns"), 30);
    EXPECT_EQ(table.integer(0, "count"), 1);
}

TEST(Kernels, OccupancyFromTheDevice) {
    Draft draft;
    set_block(draft, draft.kernel(0, 7, 0, 10, "a"), 1024, 64);
    DeviceTable& devices = draft.tables().device;
    Row device = devices.add();
    devices.device.set(device, 0);
    devices.cc_major.set(device, 9);
    devices.cc_minor.set(device, 0);
    Trace trace = draft.finish();
    ReadTable table(trace, "kernels");
    // 1024 threads of 64 registers fill the 65536 registers of an SM: 32 of 64 warps.
    EXPECT_DOUBLE_EQ(table.real(0, "occupancy_pct"), 50.0);
    EXPECT_EQ(table.text(0, "limiter"), "registers");
}

TEST(Memcpy, ASumThatDoesNotFitIsAbsent) {
    Draft draft;
    for (int i = 0; i < 3; ++i) draft.memcpy(0, i, 0, 100, "HtoD", INT64_MAX);
    Trace trace = draft.finish();
    ReadTable table(trace, "memcpy");
    EXPECT_TRUE(table.absent(0, "bytes"));
    EXPECT_EQ(table.integer(0, "total_ns"), 300);
}

TEST(Memcpy, BusyIsAUnionPerDevice) {
    Draft draft;
    draft.memcpy(0, 7, 0, 100, "HtoD", 1000);
    draft.memcpy(0, 8, 50, 150, "HtoD", 3000);
    draft.memcpy(1, 7, 0, 50, "HtoD", 1000);
    draft.memcpy(0, 7, 200, 210, "DtoH", 10);
    Trace trace = draft.finish();
    ReadTable table(trace, "memcpy");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "kind"), "HtoD");
    EXPECT_EQ(table.integer(0, "count"), 3);
    EXPECT_EQ(table.integer(0, "bytes"), 5000);
    EXPECT_EQ(table.integer(0, "total_ns"), 250);
    EXPECT_EQ(table.integer(0, "busy_ns"), 200);
    EXPECT_DOUBLE_EQ(table.real(0, "gb_per_s"), 20.0);
    EXPECT_EQ(table.integer(1, "bytes"), 10);
}

TEST(Memcpy, AnUnknownSizeMakesTheSumUnknown) {
    Draft draft;
    draft.memcpy(0, 7, 0, 100, "HtoD", 1000);
    MemcpyTable& copies = draft.tables().memcpy;
    Row row = copies.add();
    copies.start.set(row, 200);
    copies.dur.set(row, 50);
    copies.kind.set(row, draft.intern("HtoD"));
    copies.src.set(row, draft.intern("pinned"));
    copies.dst.set(row, draft.intern("device"));
    Trace trace = draft.finish();
    ReadTable table(trace, "memcpy");
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.integer(0, "total_ns"), 150);
    for (const char* column : {"bytes", "mean_bytes", "gb_per_s"}) EXPECT_TRUE(table.absent(0, column)) << column;
}

TEST(Memset, Sums) {
    Draft draft;
    draft.memset(0, 7, 0, 5, 64);
    draft.memset(0, 7, 10, 15, 64);
    Trace trace = draft.finish();
    ReadTable table(trace, "memset");
    ASSERT_EQ(table.rows(), 1u);
    EXPECT_EQ(table.text(0, "memory_kind"), "device");
    EXPECT_EQ(table.integer(0, "bytes"), 128);
    EXPECT_EQ(table.integer(0, "total_ns"), 10);
}

TEST(Api, BlockingAndThreads) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    draft.call("other", 5, 25, "cudaLaunchKernel", 2);
    draft.call("main", 20, 120, "cudaStreamSynchronize", 3);
    Trace trace = draft.finish();
    ReadTable table(trace, "cuda_api_sum");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_TRUE(table.boolean(0, "blocking"));
    EXPECT_EQ(table.integer(0, "threads"), 1);
    EXPECT_FALSE(table.boolean(1, "blocking"));
    EXPECT_EQ(table.integer(1, "threads"), 2);
    EXPECT_EQ(table.integer(1, "p50_ns"), 10);
}

// host   main |L.G..|      L launches a (1), G launches a graph of a, a and b (2)
TEST(Launches, AGraphLaunchCountsOncePerName) {
    Draft draft;
    draft.call("main", 0, 10, "cudaLaunchKernel", 1);
    draft.call("main", 20, 50, "cudaGraphLaunch", 2);
    draft.kernel(0, 7, 8, 18, "a", 1);  // begins 2 before its call returns
    draft.kernel(0, 7, 60, 70, "a", 2);
    draft.kernel(0, 7, 70, 80, "b", 2);
    draft.kernel(0, 7, 80, 95, "a", 2);
    draft.kernel(0, 7, 100, 200, "a", 99);  // its call was not recorded
    Trace trace = draft.finish();
    ReadTable table(trace, "launches");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.text(0, "name"), "a");
    EXPECT_EQ(table.integer(0, "count"), 3);
    EXPECT_DOUBLE_EQ(table.real(0, "api_mean_ns"), 20.0);        // (10 + 30) / 2
    EXPECT_DOUBLE_EQ(table.real(0, "queue_mean_ns"), 38.0 / 3);  // -2, 10, 30
    EXPECT_EQ(table.integer(0, "queue_p95_ns"), 30);
    EXPECT_DOUBLE_EQ(table.real(0, "kernel_mean_ns"), 35.0 / 3);
    EXPECT_EQ(table.notes().size(), 1u);
}

TEST(Streams, BusiestFirstAndRelativeToTheWindow) {
    Draft draft;
    draft.call("main", 1000, 1010, "cudaLaunchKernel", 1);
    draft.kernel(0, 7, 1100, 1200, "a");
    draft.kernel(0, 7, 1150, 1250, "a");
    draft.memcpy(0, 9, 1300, 1600, "DtoH", 8);
    Trace trace = draft.finish();
    ReadTable table(trace, "streams");
    ASSERT_EQ(table.rows(), 2u);
    EXPECT_EQ(table.integer(0, "stream"), 9);
    EXPECT_EQ(table.integer(1, "ops"), 2);
    EXPECT_EQ(table.integer(1, "busy_ns"), 150);
    EXPECT_EQ(table.integer(1, "first_ns"), 100);
    EXPECT_EQ(table.integer(1, "last_ns"), 250);
}

// 1 char = 10 ns
// stream 1  |aaaa..aaaa|
// stream 2  |..nnnn....|   a collective
// stream 3  |.ccc......|   a copy
TEST(Overlap, PairsOfKindsAndStreams) {
    Draft draft;
    draft.kernel(0, 1, 0, 40, "a");
    draft.kernel(0, 1, 60, 100, "a");
    draft.kernel(0, 2, 20, 60, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    draft.memcpy(0, 3, 10, 40, "HtoD", 8);
    Trace trace = draft.finish();
    ReadTable table(trace, "overlap");
    struct Wanted {
        const char *a, *b;
        std::int64_t a_ns, b_ns, both_ns, a_exposed_ns, b_exposed_ns;
    } wanted[] = {
        {"kernel", "memcpy", 100, 30, 30, 70, 0},     {"kernel", "comm", 80, 40, 20, 60, 20},
        {"stream 1", "stream 3", 80, 30, 30, 50, 0},  {"stream 1", "stream 2", 80, 40, 20, 60, 20},
        {"stream 2", "stream 3", 40, 30, 20, 20, 10},
    };
    ASSERT_EQ(table.rows(), std::size(wanted));
    for (std::size_t row = 0; row < std::size(wanted); ++row) {
        EXPECT_EQ(table.text(row, "a"), wanted[row].a);
        EXPECT_EQ(table.text(row, "b"), wanted[row].b);
        EXPECT_EQ(table.integer(row, "a_ns"), wanted[row].a_ns) << row;
        EXPECT_EQ(table.integer(row, "b_ns"), wanted[row].b_ns) << row;
        EXPECT_EQ(table.integer(row, "both_ns"), wanted[row].both_ns) << row;
        EXPECT_EQ(table.integer(row, "a_exposed_ns"), wanted[row].a_exposed_ns) << row;
        EXPECT_EQ(table.integer(row, "b_exposed_ns"), wanted[row].b_exposed_ns) << row;
    }
}

TEST(Overlap, OfVeryManyStreamsTheBusiestArePaired) {
    Draft draft;
    for (int stream = 0; stream < 100; ++stream) draft.kernel(0, stream, 0, 1000 + stream, "a");
    Trace trace = draft.finish();
    ReadTable table(trace, "overlap");
    ASSERT_EQ(table.rows(), 64u * 63u / 2);
    EXPECT_EQ(table.text(0, "a"), "stream 98");
    EXPECT_EQ(table.integer(table.rows() - 1, "both_ns"), 1036);
    ASSERT_EQ(table.notes().size(), 1u);
    EXPECT_NE(table.notes()[0].find("36 others"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof
