// What no device can have done: repaired, counted, and nothing else touched.
#include "core/model/build/serial_work.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"
#include "core/schema/meta_keys.h"
#include "tests/unit/loss_count.h"

namespace gpuprof {
namespace {

struct DeviceWork {
    Batch batch;

    Row kernel(TimeNs start, DurNs dur, std::int64_t launch, std::int64_t stream = 7, std::int32_t device = 0) {
        KernelTable& table = batch.tables.kernel;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.device.set(row, device);
        table.stream.set(row, stream);
        table.name.set(row, batch.intern("k"));
        table.correlation.set(row, launch);
        return row;
    }
    void copy(TimeNs start, DurNs dur, std::int64_t launch) {
        MemcpyTable& table = batch.tables.memcpy;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.device.set(row, 0);
        table.stream.set(row, 7);
        table.correlation.set(row, launch);
    }
    Trace finish() {
        TraceBuilder builder({"file", "test", ""});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }
};

std::vector<DurNs> durations(const Trace& trace) {
    return {trace.kernel().dur.values(), trace.kernel().dur.values() + trace.kernel().rows};
}

TEST(SerialWork, AnOpThatRunsOverOthersIsCutWhereTheNextStarts) {
    DeviceWork work;
    for (int i = 0; i < 40; ++i) work.kernel(i * 1000, i == 3 ? 30'000 : 900, i);
    Trace trace = work.finish();
    EXPECT_EQ(losses(trace, "overrun"), 1);
    EXPECT_EQ(durations(trace)[3], 1000);
    EXPECT_EQ(trace.window().end, 39'900);
    EXPECT_EQ(trace.meta(meta_key::kContradiction), "");
}

TEST(SerialWork, TheWindowNeverFollowsACutRecord) {
    DeviceWork work;
    for (int i = 0; i < 40; ++i) work.kernel(i * 1000, i == 3 ? 5'000'000 : 900, i);
    EXPECT_EQ(work.finish().window().end, 39'900);
}

TEST(SerialWork, CopiesAndKernelsOfAStreamAreSerialToo) {
    DeviceWork work;
    work.copy(0, 200'000, 1);
    for (int i = 1; i < 40; ++i) work.kernel(i * 10'000, 9'000, i + 1);
    EXPECT_EQ(losses(work.finish(), "overrun"), 1);
}

TEST(SerialWork, StreamsAndDevicesAreIndependent) {
    DeviceWork work;
    work.kernel(0, 1'000'000, 1);
    work.kernel(10, 100, 2, 8);
    work.kernel(10, 100, 3, 7, 1);
    EXPECT_EQ(losses(work.finish(), "overrun"), 0);
}

TEST(SerialWork, NodesOfAGraphLaunchMayOverlap) {
    DeviceWork work;
    work.kernel(0, 100'000, 1);
    work.kernel(1000, 1000, 1);
    work.kernel(2000, 150'000, 1);
    work.kernel(160'000, 1000, 2);
    EXPECT_EQ(losses(work.finish(), "overrun"), 0);
}

TEST(SerialWork, ADependentLaunchStartsALittleEarly) {
    DeviceWork work;
    for (int i = 0; i < 20; ++i) work.kernel(i * 100'000, 112'000, i);
    EXPECT_EQ(losses(work.finish(), "overrun"), 0);
}

TEST(SerialWork, TooManyOverrunsContradict) {
    DeviceWork work;
    for (int i = 0; i < 20; ++i) work.kernel(i * 100'000, i % 2 == 0 ? 250'000 : 90'000, i);
    Trace trace = work.finish();
    EXPECT_EQ(losses(trace, "overrun"), 10);
    EXPECT_NE(trace.meta(meta_key::kContradiction), "");
}

TEST(SerialWork, ExactCopiesAreLeftOut) {
    DeviceWork work;
    for (int i = 0; i < 10; ++i)
        for (int copy = 0; copy < 2; ++copy) work.kernel(i * 1000, 900, i);
    Trace trace = work.finish();
    EXPECT_EQ(trace.kernel().rows, 10u);
    EXPECT_EQ(losses(trace, "copied_event"), 10);
    EXPECT_EQ(losses(trace, "overrun"), 0);
}

TEST(SerialWork, WorkThatDiffersInOneValueIsNoCopy) {
    DeviceWork work;
    work.kernel(0, 900, 1, 7);
    work.kernel(0, 900, 2, 8);
    work.kernel(0, 900, 3, 9);
    Trace trace = work.finish();
    EXPECT_EQ(trace.kernel().rows, 3u);
    EXPECT_EQ(losses(trace, "copied_event"), 0);
}

TEST(SerialWork, WithoutAllColumnsNothingIsACopy) {
    Batch batch;
    DeviceWork work;
    work.kernel(0, 900, 1, 7);
    work.kernel(0, 900, 2, 8);
    work.batch.tables.kernel.stream.skip();
    work.batch.tables.kernel.correlation.skip();
    work.batch.tables.kernel.close();
    Trace trace = work.finish();
    EXPECT_EQ(trace.kernel().rows, 2u);
}

TEST(SerialWork, KernelsOfNoTimeAreCounted) {
    DeviceWork work;
    for (int i = 0; i < 10; ++i) work.kernel(i * 1000, i == 5 ? 0 : 900, i);
    Trace trace = work.finish();
    EXPECT_EQ(losses(trace, "zero_duration"), 1);
    EXPECT_EQ(trace.kernel().rows, 10u);
}

}  // namespace
}  // namespace gpuprof
