#include "ranks/reduce/rank_steps.h"

#include <string>
#include <vector>

#include "ranks/reduce/host_input.h"
#include "tests/unit/ranks/one_rank.h"

namespace gpuprof {
namespace {

class StepsOfARank : public OneRank {
protected:
    void step(int number, TimeNs start, TimeNs end) {
        range("main", start, end, "ProfilerStep#" + std::to_string(number));
    }
    void launch(TimeNs launched, TimeNs start, TimeNs end, std::int64_t correlation) {
        call(launched, launched + 1, "cudaLaunchKernel", correlation);
        kernel(start, end, "gemm", correlation);
    }
    std::vector<RankStep> steps() { return RankSteps::make(facts()).steps(); }
    static void expect_windows(const std::vector<RankStep>& found, const std::vector<Interval>& windows) {
        ASSERT_EQ(found.size(), windows.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].number, static_cast<std::int64_t>(10 + i));
            EXPECT_EQ(found[i].window.start, windows[i].start * kUs) << i;
            EXPECT_EQ(found[i].window.end, windows[i].end * kUs) << i;
        }
    }
};

// A profiler's own work between two steps is a part of the later one, which has its own number.
TEST_F(StepsOfARank, WithoutADeviceEndOnTheHost) {
    step(10, 0, 100), step(11, 105, 200), step(12, 230, 300);
    expect_windows(steps(), {{0, 100}, {100, 200}, {200, 300}});
}

TEST_F(StepsOfARank, EndWithTheWorkThatTheyLaunched) {
    step(10, 0, 100), step(11, 105, 200), step(12, 230, 300);
    launch(10, 20, 130, 1), launch(110, 131, 210, 2), launch(240, 250, 290, 3);
    expect_windows(steps(), {{0, 130}, {130, 210}, {210, 290}});
}

TEST_F(StepsOfARank, OneThatLaunchedNothingEndsOnTheHost) {
    step(10, 0, 100), step(11, 105, 200), step(12, 230, 300);
    launch(10, 20, 90, 1), launch(240, 250, 290, 3);
    expect_windows(steps(), {{0, 90}, {90, 200}, {200, 290}});
}

TEST_F(StepsOfARank, InputIsLoadedByTheirThread) {
    step(10, 0, 100), step(11, 105, 200);
    range("main", 10, 40, kLoader);
    range("main", 110, 120, kLoader);
    range("main", 115, 118, "load_batch");
    range("main", 150, 180, "forward");
    range("prefetcher", 50, 190, "load_batch");
    IntervalSet input = host_input(facts());
    ASSERT_EQ(input.size(), 2U);
    EXPECT_EQ(input[0], (Interval{10 * kUs, 40 * kUs}));
    EXPECT_EQ(input[1], (Interval{110 * kUs, 120 * kUs}));
}

// Gloo executes collectives on threads of its own.
class HostCollectives : public StepsOfARank {
protected:
    void reduce(TimeNs start, TimeNs end) {
        CollectiveTable& table = draft_.tables().collective;
        table.external_id.set(table.add(), ++last_);
        range("gloo", start, end, "gloo:all_reduce", last_);
    }

private:
    std::int64_t last_ = 0;
};

TEST_F(HostCollectives, FollowTheOneOfTheStepBeforeWhoseThreadNotesItsEndLate) {
    step(10, 0, 10'000), step(11, 10'000, 20'000);
    reduce(2'000, 12'000), reduce(11'000, 19'000);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1].follows, 1U);
    EXPECT_EQ(found[1].own.known(), 0);
}

TEST_F(HostCollectives, DoNotFollowOneOfTheirOwnStepThatIsStillUnderWay) {
    step(10, 0, 20'000);
    reduce(2'000, 12'000), reduce(10'000, 19'000);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1].follows, kFollowsNothing);
}

TEST_F(HostCollectives, ComeAfterInputAndOtherWorkOfTheHost) {
    step(10, 0, 10'000), step(11, 10'000, 30'000);
    range("main", 10'000, 16'000, kLoader);
    reduce(2'000, 9'000), reduce(20'000, 29'000);
    LargeVector<RankCollective> found = points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1].own.input, 6'000 * kUs);
    EXPECT_EQ(found[1].own.host, 5'000 * kUs);
}

}  // namespace
}  // namespace gpuprof
