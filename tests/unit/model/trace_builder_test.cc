// What finish() promises: sorted, repaired, joined by correlation within a process, and every repair counted.
#include "core/model/build/trace_builder.h"

#include <gtest/gtest.h>

#include "tests/unit/loss_count.h"

namespace gpuprof {
namespace {

struct BuiltTrace {
    Batch batch;

    void kernel(std::string_view process, TimeNs start, DurNs dur, std::int64_t correlation) {
        KernelTable& table = batch.tables.kernel;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.process.set(row, batch.intern(process));
        table.correlation.set(row, correlation);
        table.name.set(row, batch.intern("k"));
    }
    void call(std::string_view process, TimeNs start, DurNs dur, std::int64_t correlation) {
        ApiCallTable& table = batch.tables.api_call;
        Row row = table.add();
        table.start.set(row, start);
        table.dur.set(row, dur);
        table.process.set(row, batch.intern(process));
        table.correlation.set(row, correlation);
    }
    Trace finish() {
        TraceBuilder builder({"file", "test", ""});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }
};

TEST(TraceBuilder, RemovesSecretsThatTheRecorderStored) {
    BuiltTrace made;
    ProcessTable& process = made.batch.tables.process;
    Row row = process.add();
    process.key.set(row, made.batch.intern("1"));
    process.name.set(row, made.batch.intern("bash -c TOKEN=abc python train.py"));
    process.command.set(row, made.batch.intern("train --api-key abc --tokens 5"));
    MetaTable& meta = made.batch.tables.meta;
    for (auto [key, value] :
         {std::pair("WANDB_API_KEY", "abc"), {"cmd", "curl -u me:abc https://h"}, {"tokens", "5"}}) {
        row = meta.add();
        meta.key.set(row, made.batch.intern(key)), meta.value.set(row, made.batch.intern(value));
    }
    Trace trace = made.finish();
    EXPECT_EQ(trace.text(trace.tables().process.name[0]), "bash -c TOKEN=*** python train.py");
    EXPECT_EQ(trace.text(trace.tables().process.command[0]), "train --api-key *** --tokens 5");
    EXPECT_EQ(trace.meta("WANDB_API_KEY"), "***");
    EXPECT_EQ(trace.meta("cmd"), "curl -u me:*** https://h");
    EXPECT_EQ(trace.meta("tokens"), "5");
}

TEST(TraceBuilder, SortsAndLinksWithinAProcess) {
    BuiltTrace made;
    made.kernel("1", 300, 10, 5);
    made.kernel("2", 100, 10, 5);
    made.kernel("1", 200, 10, 6);
    made.call("2", 20, 5, 5);
    made.call("1", 10, 5, 5);
    Trace trace = made.finish();
    EXPECT_EQ(trace.kernel().start[0], 100);
    EXPECT_EQ(trace.kernel().start[2], 300);
    EXPECT_EQ(trace.api_call().start[0], 10);
    EXPECT_EQ(trace.links().kernel_launch[0], 1u);      // process 2
    EXPECT_EQ(trace.links().kernel_launch[1], kNoRow);  // correlation 6 has no call
    EXPECT_EQ(trace.links().kernel_launch[2], 0u);
    EXPECT_EQ(trace.window(), (Interval{10, 310}));
    EXPECT_EQ(losses(trace, "work_without_call"), 1);
}

TEST(TraceBuilder, TimesWeeksOffAndTotalsOfAgesAreLosses) {
    constexpr TimeNs kNow = 1'700'000'000'000'000'000, kWeeks = (TimeNs{1} << 51) - 1;
    TraceBuilder builder(Origin{});
    Batch batch;
    OverheadTable& overhead = batch.tables.overhead;
    auto add = [&](TimeNs start, DurNs dur) {
        Row row = overhead.add();
        overhead.start.set(row, start);
        overhead.dur.set(row, dur);
    };
    add(0, 5);  // a recorder that wrote no time
    add(kNow + 1, kWeeks);
    for (int i = 0; i < 2000; ++i) add(kNow, kWeeks);
    builder.append(std::move(batch));
    Trace trace = std::move(builder).finish();
    // 1024 weeks-long spans reach 2^61 ns; the one that ends too late and the one at 0 are skipped because of their times.
    EXPECT_EQ(trace.tables().overhead.rows, 1024u);
    EXPECT_EQ(losses(trace, "time_out_of_range"), 2002 - 1024);
    EXPECT_EQ(trace.window().start, kNow);
}

TEST(TraceBuilder, CountsWhatItRepairs) {
    BuiltTrace made;
    made.kernel("1", 100, -5, 1);
    made.kernel("1", INT64_MAX - 1, 10, 2);
    made.kernel("1", 50, INT64_MAX, 3);
    made.call("1", 10, 5, 1);
    made.call("1", 20, 5, 1);
    Trace trace = made.finish();
    ASSERT_EQ(trace.kernel().rows, 1u);
    EXPECT_EQ(trace.kernel().dur[0], 0);
    EXPECT_EQ(trace.links().kernel_launch[0], 0u);
    EXPECT_EQ(losses(trace, "negative_duration"), 1);
    EXPECT_EQ(losses(trace, "time_out_of_range"), 2);
    EXPECT_EQ(losses(trace, "duplicate_correlation"), 1);
}

TEST(TraceBuilder, ScatteredCorrelationIdsAreFound) {
    BuiltTrace made;
    for (std::int64_t i = 0; i < 100; ++i) {
        made.call("1", i, 1, i * 1'000'000'007);
        made.kernel("1", i + 1000, 1, i * 1'000'000'007);
    }
    Trace trace = made.finish();
    for (Row row = 0; row < 100; ++row) EXPECT_EQ(trace.links().kernel_launch[row], row);
}

TEST(TraceBuilder, KeysAreMergedFieldByField) {
    TraceBuilder builder({"file", "test", ""});
    for (int part = 0; part < 2; ++part) {
        Batch batch;
        ThreadTable& threads = batch.tables.thread;
        Row row = threads.add();
        threads.key.set(row, batch.intern("1/2"));
        threads.process.set(row, batch.intern("1"));
        if (part == 1) threads.name.set(row, batch.intern("main"));
        if (part == 0) threads.tid.set(row, 2);
        builder.append(std::move(batch));
    }
    Trace trace = std::move(builder).finish();
    ASSERT_EQ(trace.tables().thread.rows, 1u);
    EXPECT_EQ(trace.text(trace.tables().thread.name[0]), "main");
    EXPECT_EQ(trace.tables().thread.tid[0], 2);
}

}  // namespace
}  // namespace gpuprof
