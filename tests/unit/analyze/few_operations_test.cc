// What is said of a recording with a few operations on a device that is hardly used.
#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "analyze/facts/memory/managed_migrations.h"
#include "analyze/facts/steps/steady_part.h"
#include "analyze/facts/steps/sufficiency.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

constexpr TimeNs kLong = 100'000'000;

std::string why_few(const Trace& trace) { return Facts(trace, {}).get<Sufficiency>().insufficient_because; }

TEST(FewOperations, GraphsAndCopiesAreNoKernels) {
    Draft draft;
    draft.range("main", 0, kLong, "program");
    for (TimeNs start : {1000, 3000, 5000})
        draft.tables().kernel.grid_x.set(draft.kernel(0, 7, start, start + 1280, "add_one"), 4);
    for (TimeNs start : {8000, 9600})
        draft.tables().kernel.graph_id.set(draft.kernel(0, 7, start, start + 1550, "CUDA graph 1"), 1);
    draft.memcpy(0, 7, 12'000, 12'864, "HtoD", 4096);
    Trace trace = draft.finish();
    EXPECT_EQ(why_few(trace),
              "3 kernels and 2 CUDA graphs ran for 6.94 us and 1 copy for 864 ns of a 100 ms window, too few to "
              "characterise the program; record the part that repeats");
    EXPECT_FALSE(interval_for_first_answer(Facts(trace, {})).has_value());
}

TEST(FewOperations, WithoutKernelsTheCallsAreWhatThereIs) {
    Draft draft;
    draft.call("main", 0, kLong / 2, "cudaFree", 1);
    draft.call("main", kLong - 1000, kLong, "cudaMemsetAsync", 2);
    draft.memset(0, 7, kLong - 500, kLong - 30, 4608);
    EXPECT_EQ(why_few(draft.finish()),
              "no kernel ran; 1 fill ran for 470 ns of a 100 ms window (cudaFree took 50.0 ms), too little to "
              "characterise the program; record the part that repeats");
}

// Six kernels and a copy in half a second, after a start of ten: what they do is known.
TEST(FewOperations, AreEnoughIfTheyTakeLong) {
    Draft draft;
    draft.range("main", 0, 100 * kLong, "program");
    draft.memcpy(0, 7, 90 * kLong, 93 * kLong, "HtoD", 4096);
    for (TimeNs start = 93 * kLong; start < 94 * kLong; start += kLong / 6)
        draft.kernel(0, 7, start, start + kLong / 6, "gemm");
    Trace trace = draft.finish();
    EXPECT_EQ(why_few(trace), "");
    std::optional<Interval> part = interval_for_first_answer(Facts(trace, {}));
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->start, 90 * kLong);
}

TEST(FewOperations, MayBeCopiesAlone) {
    Draft draft;
    draft.range("main", 0, 100 * kLong, "program");
    for (TimeNs start : {50 * kLong, 51 * kLong}) draft.memcpy(0, 7, start, start + kLong / 2, "HtoD", 4096);
    Trace trace = draft.finish();
    EXPECT_EQ(why_few(trace), "");
    EXPECT_EQ(interval_for_first_answer(Facts(trace, {})), (Interval{50 * kLong, 51 * kLong + kLong / 2}));
}

// The same work, but spread over the whole recording.
TEST(FewOperations, SpreadOverTheRecordingShowNothing) {
    Draft draft;
    draft.range("main", 0, 100 * kLong, "program");
    for (TimeNs start : {kLong, 50 * kLong, 99 * kLong}) draft.kernel(0, 7, start, start + kLong / 100, "gemm");
    EXPECT_NE(why_few(draft.finish()).find("3 kernels ran for 3.00 ms of a 10.0 s window, too few"), std::string::npos);
}

class MigrationsInside : public testing::Test {
protected:
    Row migrate(TimeNs start, TimeNs end, std::string_view kind, std::string_view cause = "") {
        MemcpyTable& copies = draft.tables().memcpy;
        Row row = draft.memcpy(0, 0, start, end, kind, 1000);
        copies.src.change(row, draft.intern("managed"));
        copies.dst.change(row, draft.intern("managed"));
        if (!cause.empty()) copies.migration.set(row, draft.intern(cause));
        return row;
    }
    Draft draft;
};

TEST_F(MigrationsInside, OfFaultsLimitAKernel) {
    draft.kernel(0, 7, 0, 1000'000, "add");
    draft.kernel(0, 7, 1100'000, 1200'000, "add");
    migrate(400'000, 500'000, "HtoD", "fault");
    migrate(700'000, 900'000, "HtoD", "prefetch");
    migrate(1150'000, 1190'000, "DtoH", "fault");  // the host's access
    Trace trace = draft.finish();
    Facts facts(trace, {});
    const ManagedMigrations& found = facts.get<ManagedMigrations>();
    EXPECT_TRUE(found.limits(0));
    EXPECT_FALSE(found.limits(1));
    EXPECT_EQ(found.count, 3u);
    EXPECT_EQ(found.in_kernels, 2u);
    EXPECT_EQ(found.moving, 300'000);
    EXPECT_EQ(found.waiting, 900'000);
}

TEST_F(MigrationsInside, ThatTheProgramAskedForDoNot) {
    draft.kernel(0, 7, 0, 1000'000, "add");
    migrate(0, 900'000, "HtoD", "user");
    Trace trace = draft.finish();
    EXPECT_FALSE(Facts(trace, {}).get<ManagedMigrations>().limits(0));
}

TEST_F(MigrationsInside, AreNotNeededIfFaultsWereRecorded) {
    draft.kernel(0, 7, 0, 1000'000, "add");
    PageFaultTable& faults = draft.tables().page_fault;
    Row row = faults.add();
    faults.start.set(row, 200'000);
    faults.dur.set(row, 700'000);
    faults.device.set(row, 0);
    faults.faults.set(row, 32);
    Trace trace = draft.finish();
    Facts facts(trace, {});
    EXPECT_TRUE(facts.get<ManagedMigrations>().limits(0));
    EXPECT_EQ(facts.get<ManagedMigrations>().faults_in_kernels.value(), 32);
}

TEST_F(MigrationsInside, OfEvictionsDoToo) {
    draft.kernel(0, 7, 0, 1000'000, "add");
    migrate(0, 400'000, "DtoH", "eviction");
    migrate(400'000, 900'000, "HtoD", "fault");
    Trace trace = draft.finish();
    Facts facts(trace, {});
    EXPECT_TRUE(facts.get<ManagedMigrations>().limits(0));
    EXPECT_EQ(facts.get<ManagedMigrations>().evictions, 1u);
}

}  // namespace
}  // namespace gpuprof
