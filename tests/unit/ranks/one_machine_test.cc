#include "ranks/job/hosts.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gpuprof {
namespace {

constexpr TimeNs kMachineMs = 1'000'000;

// Ranks with one clock each; their collectives end at the same times, but for what `add` says.
struct Machines {
    Job job;
    std::size_t ends = 5;
    TimeNs pause = 10 * kMachineMs;

    Machines() { job.groups.emplace_back(); }
    void add(std::int32_t rank, std::optional<std::int32_t> device, TimeNs later = 0,
             CollectiveKind kind = CollectiveKind::all_reduce) {
        auto index = static_cast<std::uint32_t>(job.ranks.size());
        Job::Rank& added = job.ranks.emplace_back();
        added.rank = rank, added.device = device, added.clock = index;
        added.first = static_cast<std::uint32_t>(job.collectives.size());
        added.collectives = static_cast<std::uint32_t>(ends);
        job.clocks.push_back({"rank " + std::to_string(rank), false, {index}});
        for (std::size_t i = 0; i < ends; ++i) {
            Job::Collective& collective = job.collectives.emplace_back();
            TimeNs end = static_cast<TimeNs>(i + 1) * pause + later;
            collective.rank = index, collective.group = 0, collective.kind = kind,
            collective.span = {end - kMachineMs, end};
        }
    }
    std::vector<std::string> names() {
        join_clocks(job);
        std::vector<std::string> found;
        for (const Job::Clock& clock : job.clocks) found.push_back(clock.name);
        return found;
    }
};

using Names = std::vector<std::string>;

TEST(OneMachine, HasRanksThatFollowItsGpusAndEndTogether) {
    Machines machines;
    for (std::int32_t rank = 0; rank < 6; ++rank) machines.add(rank, rank % 3, rank < 3 ? 0 : 7 * kMachineMs);
    EXPECT_EQ(machines.names(), (Names{"of ranks 0-2", "of ranks 3-5"}));
    EXPECT_EQ(machines.job.ranks[4].clock, 1U);
    EXPECT_EQ(machines.job.clocks[1].ranks, (std::vector<std::uint32_t>{3, 4, 5}));
}

TEST(OneMachine, ClocksOfItsGpusDifferByMicroseconds) {
    Machines machines;
    machines.add(0, 0), machines.add(1, 1, 15'000), machines.add(2, 2, 60'000);
    EXPECT_EQ(machines.names(), (Names{"of ranks 0-1", "rank 2"}));
}

TEST(OneMachine, MayLackTheFileOfARank) {
    Machines machines;
    machines.add(8, 0), machines.add(9, 1), machines.add(11, 3);
    EXPECT_EQ(machines.names(), Names{"of ranks 8,9,11"});
}

TEST(OneMachine, GpusInAnotherOrderThanRanksSayNothing) {
    Machines machines;
    machines.add(0, 1), machines.add(1, 0), machines.add(2, 0), machines.add(3, std::nullopt);
    EXPECT_EQ(machines.names(), (Names{"rank 0", "rank 1", "rank 2", "rank 3"}));
}

TEST(OneMachine, FewEndsMayAgreeByChance) {
    Machines machines;
    machines.ends = 2;
    machines.add(0, 0), machines.add(1, 1);
    EXPECT_EQ(machines.names().size(), 2U);
}

TEST(OneMachine, DenseEndsAgreeByChance) {
    Machines machines;
    machines.ends = 100, machines.pause = 50'000;
    machines.add(0, 0), machines.add(1, 1);
    EXPECT_EQ(machines.names().size(), 2U);
}

TEST(OneMachine, OnlyCollectivesThatEndTogetherCount) {
    Machines machines;
    machines.add(0, 0, 0, CollectiveKind::all_to_all), machines.add(1, 1, 0, CollectiveKind::all_to_all);
    EXPECT_EQ(machines.names().size(), 2U);
}

TEST(OneMachine, EndsOfAnotherGroupAreOthers) {
    Machines machines;
    machines.job.groups.emplace_back();
    machines.add(0, 0), machines.add(1, 1);
    for (std::uint32_t i = machines.job.ranks[1].first; i < machines.job.collectives.size(); ++i)
        machines.job.collectives[i].group = 1;
    EXPECT_EQ(machines.names().size(), 2U);
}

TEST(OneMachine, RecordedHostsStay) {
    Machines machines;
    machines.add(0, 0), machines.add(1, 1);
    machines.job.clocks[0] = {"n1", true, {0}};
    EXPECT_EQ(machines.names(), (Names{"n1", "rank 1"}));
}

}  // namespace
}  // namespace gpuprof
