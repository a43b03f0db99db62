#include "core/model/select_interval.h"

#include <gtest/gtest.h>

#include "core/model/build/trace_builder.h"

namespace gpuprof {
namespace {

constexpr TimeNs kBase = 1'000'000'000'000;

struct MadeTrace {
    Batch batch;
    void call(TimeNs start, DurNs dur, std::int64_t correlation) {
        ApiCallTable& table = batch.tables.api_call;
        Row row = table.add();
        table.start.set(row, kBase + start);
        table.dur.set(row, dur);
        table.process.set(row, batch.intern("p"));
        table.correlation.set(row, correlation);
    }
    void kernel(TimeNs start, DurNs dur, std::int64_t correlation) {
        KernelTable& table = batch.tables.kernel;
        Row row = table.add();
        table.start.set(row, kBase + start);
        table.dur.set(row, dur);
        table.device.set(row, 0);
        table.process.set(row, batch.intern("p"));
        table.correlation.set(row, correlation);
    }
    void range(TimeNs start, DurNs dur, std::string_view name) {
        RangeTable& table = batch.tables.range;
        Row row = table.add();
        table.start.set(row, kBase + start);
        table.dur.set(row, dur);
        table.name.set(row, batch.intern(name));
    }
    void allocation(TimeNs time, std::int64_t bytes) {
        MemoryEventTable& table = batch.tables.memory_event;
        Row row = table.add();
        table.time.set(row, kBase + time);
        table.bytes.set(row, bytes);
    }
    Trace trace() && {
        TraceBuilder builder(Origin{});
        builder.append(std::move(batch));
        return std::move(builder).finish();
    }
};

TEST(Part, KeepsWorkThatStartsInsideWithItsLaunch) {
    MadeTrace made;
    made.call(0, 10, 1), made.kernel(100, 50, 1);     // before
    made.call(110, 10, 2), made.kernel(300, 500, 2);  // inside, launched before
    made.call(310, 10, 3), made.kernel(900, 50, 3);   // launched inside, runs after
    Trace part = select_interval(std::move(made).trace(), {kBase + 200, kBase + 400});
    ASSERT_EQ(part.kernel().rows, 1u);
    EXPECT_EQ(part.kernel().correlation[0], 2);
    ASSERT_EQ(part.api_call().rows, 2u);
    EXPECT_EQ(part.api_call().correlation[part.links().kernel_launch[0]], 2);
    EXPECT_TRUE(part.is_part());
    EXPECT_EQ(part.zero(), kBase);
    EXPECT_EQ(part.window().start, kBase + 200);
    EXPECT_EQ(part.window().end, kBase + 800);  // the end of its last work
}

TEST(Part, KeepsTheMarkOfAnEngineStepWhoseWorkItKeeps) {
    MadeTrace made;
    for (auto [time, name] :
         {std::pair(100, "execute_new_0_cached_4"), {200, "execute_new_0_cached_4"}, {300, "other"}})
        made.range(time, 50, name);
    made.call(110, 10, 1), made.kernel(130, 20, 1);   // before
    made.call(210, 10, 2), made.kernel(1000, 50, 2);  // inside, launched before
    made.call(310, 10, 3), made.kernel(1100, 50, 3);
    Trace part = select_interval(std::move(made).trace(), {kBase + 900, kBase + 1200});
    ASSERT_EQ(part.range().rows, 1u);
    EXPECT_EQ(part.range().start[0], kBase + 200);
}

TEST(Part, RemembersWhatWasAllocatedBefore) {
    MadeTrace made;
    made.kernel(0, 1000, 1);
    made.allocation(10, 64), made.allocation(500, 32), made.allocation(900, 16);
    Trace part = select_interval(std::move(made).trace(), {kBase + 400, kBase + 600});
    EXPECT_EQ(part.tables().memory_event.rows, 2u);
}

TEST(Part, OfEverythingIsEverything) {
    MadeTrace made;
    for (int i = 0; i < 100; ++i) made.call(i * 10, 5, i), made.kernel(i * 10 + 7, 2, i);
    Trace whole = std::move(made).trace();
    Interval window = whole.window();
    Trace part = select_interval(std::move(whole), window);
    EXPECT_EQ(part.kernel().rows, 100u);
    EXPECT_EQ(part.api_call().rows, 100u);
    EXPECT_FALSE(part.is_part());
}

TEST(Rebased, WithAWindowHasTheSameValuesInFewerBytes) {
    MadeTrace made;
    for (int i = 0; i < 100; ++i) made.kernel(i * 1000, i == 50 ? 300 : 5, i == 60 ? -1 : i);
    made.range(0, 70'000, "step"), made.range(10, 5, "fetch");
    Trace whole = std::move(made).trace();
    Interval window = whole.window();
    Trace trace = rebase_to_start(std::move(whole), window);
    const KernelTable& kernels = trace.kernel();
    for (Row row = 0; row < 100; ++row) {
        EXPECT_EQ(kernels.start[row], row * 1000);
        EXPECT_EQ(kernels.dur[row], row == 50 ? 300 : 5);
        EXPECT_EQ(kernels.correlation[row], row == 60 ? -1 : std::int64_t{row});
    }
    EXPECT_EQ(kernels.dur.width(), 2);
    EXPECT_EQ(kernels.start.width(), 3);
    EXPECT_EQ(kernels.correlation.width(), 0);  // a negative number needs all eight
    EXPECT_EQ(trace.text(trace.range().name[1]), "fetch");
}

}  // namespace
}  // namespace gpuprof
