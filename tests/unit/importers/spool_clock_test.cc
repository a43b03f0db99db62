#include "io/importers/spool/spool_clock.h"

#include <gtest/gtest.h>

namespace gpuprof {
namespace {

struct Rows {
    Batch batch;
    void call(const char* name, TimeNs start, TimeNs end, std::int64_t correlation) {
        ApiCallTable& table = batch.tables.api_call;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, end - start);
        table.name.set(row, batch.intern(name));
        table.correlation.set(row, correlation);
    }
    void kernel(TimeNs start, TimeNs end, std::int64_t correlation, std::int32_t device = 0) {
        KernelTable& table = batch.tables.kernel;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, end - start);
        table.device.set(row, device);
        table.correlation.set(row, correlation);
    }
    void copy(const char* kind, TimeNs start, TimeNs end, std::int64_t correlation) {
        MemcpyTable& table = batch.tables.memcpy;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, end - start);
        table.device.set(row, 0);
        table.kind.set(row, batch.intern(kind));
        table.correlation.set(row, correlation);
    }
    std::vector<DeviceClock> clocks() { return device_clocks(batch, SpoolRows()); }
};

TEST(DeviceClock, IsBoundedByLaunchesAndWaits) {
    Rows rows;
    rows.call("cudaLaunchKernel", 1000, 1100, 1);
    rows.kernel(1500, 2000, 1);
    rows.call("cudaDeviceSynchronize", 1200, 2300, 2);
    auto clocks = rows.clocks();
    ASSERT_EQ(clocks.size(), 1u);
    EXPECT_EQ(clocks[0].min_error, -500);
    EXPECT_EQ(clocks[0].max_error, 300);
    EXPECT_EQ(clocks[0].move(), 0);
}

TEST(DeviceClock, MovesWorkThatStartsBeforeItsCall) {
    Rows rows;
    rows.call("cudaLaunchKernel", 1000, 1100, 1);
    rows.kernel(400, 900, 1);
    auto clocks = rows.clocks();
    EXPECT_EQ(clocks[0].move(), 600);
    move_device(rows.batch.tables, SpoolRows(), clocks[0]);
    EXPECT_EQ(rows.batch.tables.kernel.start[0], 1000);
    EXPECT_EQ(rows.batch.tables.kernel.start.size(), 1u);
}

TEST(DeviceClock, MovesWorkThatEndsAfterItsWait) {
    Rows rows;
    rows.call("cudaMemcpy", 1000, 2000, 1);
    rows.copy("DtoH", 1900, 2100, 1);
    EXPECT_EQ(rows.clocks()[0].move(), -100);
}

TEST(DeviceClock, CopiesToTheDeviceMayEndLater) {
    Rows rows;
    rows.call("cudaMemcpy", 1000, 2000, 1);
    rows.copy("HtoD", 1900, 2100, 1);
    EXPECT_FALSE(rows.clocks()[0].max_error.has_value());
}

TEST(DeviceClock, BoundsThatContradictLeaveTheMiddle) {
    DeviceClock clock{.device = 0, .min_error = 300, .max_error = 100};
    EXPECT_EQ(clock.move(), 200);
}

TEST(DeviceClock, WaitsSayNothingOfSeveralDevices) {
    Rows rows;
    rows.call("cudaLaunchKernel", 1000, 1100, 1);
    rows.call("cudaLaunchKernel", 1000, 1100, 2);
    rows.kernel(1500, 9000, 1, 0);
    rows.kernel(1500, 2000, 2, 1);
    rows.call("cudaDeviceSynchronize", 1200, 2300, 3);
    for (const DeviceClock& clock : rows.clocks()) EXPECT_FALSE(clock.max_error.has_value());
}

TEST(SpoolClock, TellsAStepOfTheSystemsClock) {
    EXPECT_EQ(clock_step({{1'000'000'000, 0, 0}, {2'000'000'000, 1'000'000'000, 0}}), 0);
    EXPECT_EQ(clock_step({{1'000'000'000, 0, 0}, {5'600'000'000, 1'000'000'000, 0}}), 3'600'000'000);
    EXPECT_EQ(clock_step({}), 0);
}

TEST(SpoolClock, FindsTheOffsetOfCuptisClock) {
    EXPECT_FALSE(cupti_offset({{1'000'000'000, 0, 1'000'000'040}}).has_value());
    EXPECT_FALSE(cupti_offset({{1'000'000'000, 0, 0}}).has_value());
    EXPECT_EQ(cupti_offset({{1'000'000'000, 0, 400'000'000}}), 600'000'000);
}

TEST(SpoolClock, MovesEverythingCuptiTimed) {
    Rows rows;
    rows.call("cudaLaunchKernel", 1000, 1100, 1);
    rows.kernel(1500, 2000, 1);
    move_cupti_times(rows.batch.tables, SpoolRows(), 50);
    EXPECT_EQ(rows.batch.tables.kernel.start[0], 1550);
    EXPECT_EQ(rows.batch.tables.api_call.start[0], 1050);
    EXPECT_EQ(rows.batch.tables.api_call.start.size(), 1u);
}

}  // namespace
}  // namespace gpuprof
