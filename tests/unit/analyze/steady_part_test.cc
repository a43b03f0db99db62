#include "analyze/facts/steps/steady_part.h"

#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "tests/unit/analyze/draft.h"

namespace gpuprof {
namespace {

void kernel(Draft& draft, TimeNs start, DurNs dur) { draft.kernel(0, 0, start, start + dur, "k"); }

TEST(BusyPart, LeavesOutTheStartUp) {
    Draft draft;
    for (int i = 0; i < 10; ++i) kernel(draft, i * 1'000'000, 10);            // warming up
    for (int i = 0; i < 200; ++i) kernel(draft, 50'000'000 + i * 1000, 500);  // the work
    kernel(draft, 99'000'000, 10);                                            // a late one
    std::optional<Interval> part = busy_part(draft.finish());
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->start, 50'000'000);
    EXPECT_EQ(part->end, 50'199'500);
}

TEST(BusyPart, GrowsOverPausesLikeThoseInside) {
    Draft draft;
    for (int i = 0; i < 100; ++i) kernel(draft, 80'000'000 + i * (i % 10 == 0 ? 1001 : 1000), 500);
    kernel(draft, 0, 10);
    std::optional<Interval> part = busy_part(draft.finish());
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(part->start, 80'000'000);
}

TEST(BusyPart, IsNotSoughtInSteadyWorkOrFewKernels) {
    Draft steady, few;
    for (int i = 0; i < 200; ++i) kernel(steady, i * 1000, 500);
    EXPECT_FALSE(busy_part(steady.finish()).has_value());
    for (int i = 0; i < 8; ++i) kernel(few, i * i * 1'000'000, 500);
    EXPECT_FALSE(busy_part(few.finish()).has_value());
}

TEST(PartForFirstAnswer, LeavesOutWhatIsBeforeTheFirstWork) {
    Draft draft;
    draft.call("main", 0, 100'000, "cudaFree", 1);  // setting up takes as long as the work
    for (int i = 0; i < 100; ++i) kernel(draft, 100'000 + i * 1000, 500);
    Trace trace = draft.finish();
    std::optional<Interval> part = interval_for_first_answer(Facts(trace, {}));
    ASSERT_TRUE(part.has_value());
    EXPECT_EQ(*part, (Interval{100'000, 199'500}));
}

TEST(PartForFirstAnswer, IsAbsentWhereNothingRan) {
    Trace trace = Draft().finish();
    EXPECT_FALSE(interval_for_first_answer(Facts(trace, {})).has_value());
}

}  // namespace
}  // namespace gpuprof
