// Batches of sends and receives with several ranks: who is matched with whom, who waits for whom, and what a replay makes of it.
#include "ranks/match/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "analyze/facts/facts.h"
#include "ranks/clocks/clock_brackets.h"
#include "ranks/price/rank_waits.h"
#include "ranks/price/replay.h"
#include "ranks/price/stages.h"
#include "tests/unit/ranks/job_rows.h"

namespace gpuprof {
namespace {

class Exchange : public testing::Test {
protected:
    void ranks(std::int32_t count, std::int64_t steps, bool one_host = true) {
        ranks_ = count;
        for (std::int32_t rank = 0; rank < count; ++rank) {
            rows_.rank(rank, one_host ? "node0" : "node" + std::to_string(rank));
            rows_.group(rank, 7, "0-" + std::to_string(count - 1));
            for (std::int64_t step = 0; step < steps; ++step)
                rows_.step(rank, step, step * 100 * kMillisecond, (step + 1) * 100 * kMillisecond);
        }
    }
    // To the next rank and from the one before.
    void pass_on(std::int32_t rank, std::int64_t step, TimeNs from, TimeNs to, std::int32_t follows = 0) {
        std::int32_t next = (rank + 1) % ranks_, before = (rank + ranks_ - 1) % ranks_;
        rows_.batch(rank, step, from, to, follows, {{rank, next}, {before, rank}});
    }
    const Facts& facts() {
        trace_ = rows_.trace();
        return facts_.emplace(trace_, Options{});
    }
    // Of each collective: the ranks of its instance, its own first.
    std::vector<std::int32_t> members(std::uint32_t collective) {
        const Job& job = facts_->get<Job>();
        const MatchedJob& matched = facts_->get<MatchedJob>();
        std::vector<std::int32_t> found;
        if (matched.instance_of[collective] == kNone) return found;
        for (std::uint32_t member : matched.of(matched.instances[matched.instance_of[collective]]))
            found.push_back(job.ranks[job.collectives[member].rank].rank);
        return found;
    }

    JobRows rows_;
    std::int32_t ranks_ = 0;
    Trace trace_;
    std::optional<Facts> facts_;
};

TEST_F(Exchange, EachRankOfARingWaitsForItsNeighbours) {
    ranks(5, 1);
    TimeNs arrivals[] = {10 * kMillisecond, 11 * kMillisecond, 40 * kMillisecond, 12 * kMillisecond, 13 * kMillisecond};
    for (std::int32_t rank = 0; rank < 5; ++rank) {
        TimeNs last = std::max({arrivals[rank], arrivals[(rank + 1) % 5], arrivals[(rank + 4) % 5]});
        pass_on(rank, 0, arrivals[rank], last + kMillisecond);
    }
    const MatchedJob& matched = facts().get<MatchedJob>();
    ASSERT_EQ(matched.instances.size(), 5U);
    EXPECT_EQ(members(0), (std::vector<std::int32_t>{0, 1, 4}));
    EXPECT_EQ(members(3), (std::vector<std::int32_t>{3, 2, 4}));
    for (const Instance& instance : matched.instances) EXPECT_TRUE(instance.complete && instance.exchange);
    EXPECT_EQ(facts_->get<RankWaits>().wait,
              (std::vector<DurNs>{3 * kMillisecond, 29 * kMillisecond, 0, 28 * kMillisecond, 0}));
    const JobReplay& replay = facts_->get<JobReplay>();
    EXPECT_EQ(replay.recorded.transfer, (std::vector<DurNs>(5, kMillisecond)));
    EXPECT_TRUE(facts_->get<JobStages>().ring[0]);
}

TEST_F(Exchange, ALateRankDelaysOthersOnlyAsFarAsItIsPassedOn) {
    ranks(5, 1);
    for (std::int32_t rank = 0; rank < 5; ++rank)
        for (int turn = 0; turn < 2; ++turn)
            pass_on(rank, 0, (10 + 10 * turn) * kMillisecond, (11 + 10 * turn) * kMillisecond, turn);
    const JobReplay& replay = facts().get<JobReplay>();
    JobTimes late = replay.recorded;
    late.own[4] += 50 * kMillisecond;  // rank 2 before its first one
    ReplayOrder order = replay.order_with(facts_->get<Job>(), facts_->get<MatchedJob>(), late);
    std::size_t arrivals = 0, ends = 0;
    for (const ReplayOrder::Node& node : order.nodes) {
        arrivals += node.what == ReplayOrder::What::arrival;
        ends += node.what == ReplayOrder::What::end;
    }
    EXPECT_EQ(arrivals, 10U);
    EXPECT_EQ(ends, 10U);
    // The last end is that of those two away, which wait in the second turn.
    EXPECT_EQ(replay.run(late, order).at(0) - replay.run(replay.recorded, order).at(0), 50 * kMillisecond);
}

TEST_F(Exchange, ASingleTransferIsPartOfTheBatchAtItsOtherEnd) {
    ranks(3, 1);
    rows_.batch(0, 0, 10, 30, 0, {{0, 1}, {2, 0}});
    rows_.batch(1, 0, 10, 30, 0, {{0, 1}});
    rows_.batch(2, 0, 20, 30, 0, {{2, 0}});
    facts();
    EXPECT_EQ(members(1), (std::vector<std::int32_t>{1, 0}));
    EXPECT_TRUE(facts_->get<MatchedJob>().instances[facts_->get<MatchedJob>().instance_of[1]].exchange);
    EXPECT_EQ(facts_->get<RankWaits>().wait, (std::vector<DurNs>{10, 0, 0}));
}

TEST_F(Exchange, TwoThatExchangeWithEachOtherOnlyAreOneInstance) {
    ranks(4, 1);
    rows_.batch(0, 0, 10, 30, 0, {{0, 1}, {1, 0}, {0, 1}});
    rows_.batch(1, 0, 15, 30, 0, {{1, 0}, {0, 1}, {0, 1}});
    for (std::int32_t rank = 0; rank < 4; ++rank) pass_on(rank, 0, 100, 200, 0);
    const MatchedJob& matched = facts().get<MatchedJob>();
    EXPECT_EQ(members(0), (std::vector<std::int32_t>{0, 1}));
    const Instance& pair = matched.instances[matched.instance_of[0]];
    EXPECT_TRUE(pair.complete && !pair.exchange);
    EXPECT_EQ(matched.instance_of[0], matched.instance_of[2]);
}

TEST_F(Exchange, MessagesOfOtherSizesAreNotOneTransfer) {
    ranks(3, 1);
    rows_.batch(0, 0, 10, 30, 0, {{0, 1, 64}, {2, 0, 64}});
    rows_.batch(1, 0, 10, 30, 0, {{0, 1, 32}, {1, 2, 64}});
    rows_.batch(2, 0, 10, 30, 0, {{1, 2, 64}, {2, 0, 64}});
    const MatchedJob& matched = facts().get<MatchedJob>();
    EXPECT_EQ(members(0), (std::vector<std::int32_t>{0, 2}));
    EXPECT_FALSE(matched.instances[matched.instance_of[0]].complete);
    EXPECT_TRUE(matched.instances[matched.instance_of[2]].complete);
    EXPECT_EQ(matched.uncertain, 2U);
}

TEST_F(Exchange, BatchesWhoseTransfersAreMissingAreAlone) {
    ranks(3, 1);
    for (std::int32_t rank = 0; rank < 3; ++rank) rows_.collective(rank, 0, 10, 20, 0, "send_recv");
    EXPECT_TRUE(facts().get<MatchedJob>().instances.empty());
}

TEST_F(Exchange, WhoComesAfterTheEndWasNotWaitedFor) {
    ranks(3, 9);
    pass_on(0, 0, 10, 12);  // its message to rank 1 was small
    pass_on(1, 0, 50, 51);
    pass_on(2, 0, 11, 51);
    // Nothing was lost, which the times above alone would not tell.
    for (std::int32_t rank = 0; rank < 3; ++rank)
        for (std::int64_t seq = 1; seq <= 8; ++seq)
            rows_.collective(rank, seq, seq * 100 * kMillisecond, seq * 100 * kMillisecond + 10, 0);
    facts();
    const Job& job = facts_->get<Job>();
    std::vector<DurNs> waits, transfers;
    for (const Job::Rank& rank : job.ranks) {
        waits.push_back(facts_->get<RankWaits>().wait[rank.first]);
        transfers.push_back(facts_->get<JobReplay>().recorded.transfer[rank.first]);
    }
    EXPECT_EQ(waits, (std::vector<DurNs>{1, 0, 39}));
    EXPECT_EQ(transfers, (std::vector<DurNs>{1, 1, 1}));
}

// Between the first and the second rank, whose clock is 5 ms ahead, only exchanges: each waits for a third rank too.
TEST_F(Exchange, ExchangesBoundTheDifferenceOfTwoClocks) {
    ranks(3, 4, false);
    constexpr TimeNs kAhead = 5 * kMillisecond;
    for (std::int64_t step = 0; step < 4; ++step)
        for (int turn = 0; turn < 2; ++turn) {
            // One of the two is the last of all, alternating.
            TimeNs begin = (100 * step + 20 * turn) * kMillisecond, first = begin + (turn == 0 ? 3 : 9) * kMillisecond,
                   second = begin + (turn == 0 ? 9 : 3) * kMillisecond, third = begin,
                   end = begin + 9 * kMillisecond + 400'000;
            std::vector<JobRows::Transfer> all{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 0}, {0, 2}};
            auto of = [&](std::int32_t rank) {
                std::vector<JobRows::Transfer> its;
                for (const JobRows::Transfer& each : all)
                    if (each.from == rank || each.to == rank) its.push_back(each);
                return its;
            };
            rows_.batch(0, step, first, end, turn, of(0));
            rows_.batch(1, step, second + kAhead, end + kAhead, turn, of(1));
            rows_.batch(2, step, third, end, turn, of(2));
        }
    facts();
    std::vector<ClockBracket> brackets = clock_brackets(facts_->get<Job>(), facts_->get<MatchedJob>(), {0, 1, 0}, 0);
    std::size_t of_both = 0;
    for (const ClockBracket& each : brackets) {
        if (each.a != 0 || each.b != 1) continue;
        ++of_both;
        EXPECT_NEAR(each.difference, kAhead, 1);
        EXPECT_NEAR(each.slack, 0, 1);
    }
    EXPECT_EQ(of_both, 4U);
}

}  // namespace
}  // namespace gpuprof
