// Ranks read from tables that may hold anything: impossible times, references to nothing, ranks without rows.
#include "ranks/job/job.h"

#include <gtest/gtest.h>

#include "analyze/facts/facts.h"
#include "ranks/match/match.h"
#include "ranks/price/replay.h"
#include "ranks/price/stragglers.h"
#include "ranks/reduce/group_id.h"
#include "ranks/reduce/rank_steps.h"
#include "tests/unit/ranks/job_rows.h"

namespace gpuprof {
namespace {

TEST(Job, CollectivesOfAllRanksAreOneInstance) {
    Trace trace = even_job(8, 3, 500'000, 10);
    Facts facts(trace, {});
    const MatchedJob& matched = facts.get<MatchedJob>();
    ASSERT_EQ(matched.instances.size(), 10U);
    for (const Instance& instance : matched.instances) {
        EXPECT_EQ(instance.count, 8U);
        EXPECT_TRUE(instance.complete);
    }
}

TEST(Job, AReplayOfTheRecordingIsTheRecording) {
    Trace trace = even_job(8, 3, 0, 10);
    Facts facts(trace, {});
    const JobReplay& replay = facts.get<JobReplay>();
    std::vector<TimeNs> ends = replay.run(replay.recorded, replay.order);
    ASSERT_EQ(ends.size(), 10U);
    EXPECT_EQ(ends[9] - ends[0], 9 * 1'100'000);
}

TEST(Job, ContradictingKindsAreNotOneCollective) {
    JobRows rows;
    for (std::int32_t rank : {0, 1}) {
        rows.rank(rank);
        rows.group(rank, 7, "0,1");
        rows.collective(rank, 1, 0, 10, 0, rank == 0 ? "all_reduce" : "all_gather");
    }
    Trace trace = rows.trace();
    Facts facts(trace, {});
    EXPECT_EQ(facts.get<MatchedJob>().mismatched, 1U);
}

TEST(Job, ImpossibleRowsAreSkippedAndCounted) {
    JobRows rows;
    rows.rank(0);
    rows.group(0, 7, "0,1");
    rows.collective(0, 1, 100, 50, 0);
    rows.collective(0, 2, INT64_MIN, INT64_MAX, 0);
    rows.collective(9, 3, 0, 10, 0);
    rows.collective(0, 4, 0, 10, INT32_MAX);
    rows.step(0, 1, INT64_MAX, INT64_MIN);
    Trace trace = rows.trace();
    Facts facts(trace, {});
    const Job& job = facts.get<Job>();
    EXPECT_EQ(job.unusable, 4U);
    ASSERT_EQ(job.collectives.size(), 1U);
    EXPECT_EQ(job.collectives[0].follows, kNone);
    EXPECT_FALSE(facts.get<Stragglers>().reason.empty());
}

TEST(Job, NumbersOfSteps) {
    EXPECT_EQ(number_of_step("ProfilerStep#12"), 12);
    EXPECT_EQ(number_of_step("step"), std::nullopt);
    EXPECT_EQ(number_of_step(""), std::nullopt);
    EXPECT_EQ(number_of_step("7"), 7);
    EXPECT_EQ(number_of_step("step 99999999999999999999"), std::nullopt);
}

TEST(Job, LengthsOfStepsThatOverlap) {
    EXPECT_EQ(lengths_of({10, 30, 25, 40}, {0, 0, 0, 0}), (std::vector<DurNs>{10, 20, 0, 10}));
    EXPECT_EQ(lengths_of({10, 90, 100}, {0, 70, 0}), (std::vector<DurNs>{10, 20, 10}));  // one was not read
    EXPECT_TRUE(lengths_of({}, {}).empty());
}

}  // namespace
}  // namespace gpuprof
