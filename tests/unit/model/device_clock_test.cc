// Clocks of devices against causes and effects.
#include "core/model/build/device_clock.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"
#include "tests/unit/loss_count.h"

namespace gpuprof {
namespace {

// Launches of one stream, 100 us apart, with a wait at the end of each ten.
struct Program {
    Batch batch;

    void call(std::string_view name, TimeNs start, DurNs dur, std::int64_t id) {
        ApiCallTable& table = batch.tables.api_call;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.process.set(row, batch.intern("1"));
        table.thread.set(row, batch.intern("1/1"));
        table.name.set(row, batch.intern(name));
        table.correlation.set(row, id);
    }
    template <class Table>
    void work(Table& table, TimeNs start, DurNs dur, std::int64_t id) {
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.process.set(row, batch.intern("1"));
        table.device.set(row, 0);
        table.stream.set(row, 7);
        table.correlation.set(row, id);
    }
    // `error(i)` is added to the time of the i-th kernel, `copy_error` to that of each copy.
    template <class Error>
    void run(Error&& error, DurNs copy_error) {
        for (int i = 0; i < 200; ++i) {
            TimeNs start = 10'000'000 + i * 100'000;
            call("cudaLaunchKernel", start, 4'000, 2 * i + 1);
            work(batch.tables.kernel, start + 6'000 + error(i), 20'000, 2 * i + 1);
            call("cudaMemcpyAsync", start + 40'000, 4'000, 2 * i + 2);
            work(batch.tables.memcpy, start + 46'000 + copy_error, 10'000, 2 * i + 2);
            if (i % 10 == 9) call("cudaDeviceSynchronize", start + 60'000, 5'000, 1000 + i);
        }
    }
    Trace finish() {
        TraceBuilder builder({"file", "test", ""});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }
};

DurNs first_lag(const Trace& trace) {
    return trace.kernel().start[0] - trace.api_call().start[trace.links().kernel_launch[0]];
}

TEST(DeviceClocks, RightOnesStay) {
    Program program;
    program.run([](int) { return 0; }, 0);
    Trace trace = program.finish();
    EXPECT_EQ(first_lag(trace), 6'000);
    EXPECT_EQ(losses(trace, "device_clock_early") + losses(trace, "early_work"), 0);
}

TEST(DeviceClocks, AnEarlyOneIsMovedByTheLeastThatPutsEffectsAfterCauses) {
    Program program;
    program.run([](int) { return -5'000'000; }, -5'000'000);
    Trace trace = program.finish();
    EXPECT_EQ(first_lag(trace), 0);
    EXPECT_EQ(trace.memcpy().start[0] - trace.kernel().start[0], 40'000);
    EXPECT_EQ(losses(trace, "device_clock_early"), 400);
    EXPECT_EQ(losses(trace, "early_work"), 0);
}

TEST(DeviceClocks, OneKindMayBeEarlyAlone) {
    Program program;
    program.run([](int) { return -5'000'000; }, 0);
    Trace trace = program.finish();
    EXPECT_EQ(losses(trace, "device_clock_early"), 200);
    EXPECT_EQ(first_lag(trace), 0);
    EXPECT_EQ(trace.memcpy().start[0], 10'046'000);
}

TEST(DeviceClocks, OneBogusRecordMovesNothing) {
    Program program;
    program.run([](int i) { return i == 70 ? -3'000'000 : 0; }, 0);
    Trace trace = program.finish();
    EXPECT_EQ(losses(trace, "device_clock_early"), 0);
    EXPECT_EQ(losses(trace, "early_work"), 1);
    EXPECT_EQ(trace.window().start, 10'000'000);  // it does not begin with a record that cannot be
}

TEST(DeviceClocks, ALateOneIsMovedByTheLeastThatEndsWorkBeforeItsWait) {
    Program program;
    program.run([](int) { return 300'000; }, 300'000);
    Trace trace = program.finish();
    EXPECT_EQ(losses(trace, "device_clock_late"), 400);
    EXPECT_EQ(first_lag(trace), 15'000);  // work ends 9 us before its wait returns
}

TEST(DeviceClocks, ADriftIsNotExplainedByOneError) {
    Program program;
    program.run([](int i) { return -100'000 * i; }, 0);
    Trace trace = program.finish();
    EXPECT_EQ(losses(trace, "device_clock_early"), 0);
    EXPECT_GT(losses(trace, "early_work"), 190);
}

TEST(ClockError, AFewFarBoundsAreBogus) {
    ClockError error;
    for (int i = 0; i < 1000; ++i) error.at_least(-6'000 - i);
    error.at_least(3'000'000);
    EXPECT_EQ(error.min_error(), -6'000);
    for (int i = 0; i < 1000; ++i) error.at_most(40'000 + i);
    error.at_most(-9'000'000);
    EXPECT_EQ(error.max_error(), 40'000);
}

TEST(ClockError, FewBoundsAreAllBelieved) {
    ClockError error;
    error.at_least(600);
    error.at_least(3'000'000);
    EXPECT_EQ(error.min_error(), 3'000'000);
    EXPECT_FALSE(error.max_error().has_value());
}

}  // namespace
}  // namespace gpuprof
