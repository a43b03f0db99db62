#include "core/schema/job_place.h"

#include <map>
#include <string>

namespace gpuprof::test {
namespace {

JobPlace place_in(const std::map<std::string, std::string>& environment) {
    return find_job_place([&](const char* name) {
        auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

TEST(JobPlace, OfEveryLauncher) {
    for (const Launcher& launcher : kLaunchers) {
        std::map<std::string, std::string> environment{{launcher.rank, "5"}};
        for (auto [name, value] :
             {std::pair(launcher.world_size, "16"), {launcher.local_rank, "1"}, {launcher.node_rank, "2"}})
            if (*name != '\0') environment[name] = value;
        JobPlace place = place_in(environment);
        EXPECT_EQ(place.launcher, launcher.name);
        EXPECT_EQ(place.rank, 5);
        EXPECT_EQ(place.world_size.has_value(), *launcher.world_size != '\0');
        EXPECT_EQ(place.local_rank.value_or(1), 1);
        EXPECT_EQ(place.node_rank.value_or(2), 2);
    }
    EXPECT_TRUE(place_in({}).launcher.empty());
}

// torchrun in a step of Slurm: the step has one task per node, so its numbers are those of nodes.
TEST(JobPlace, TheInnermostLauncherCounts) {
    JobPlace place = place_in({{"RANK", "9"},
                               {"WORLD_SIZE", "16"},
                               {"LOCAL_RANK", "1"},
                               {"SLURM_PROCID", "1"},
                               {"SLURM_STEP_NUM_TASKS", "2"},
                               {"SLURM_NODEID", "1"},
                               {"SLURM_JOB_ID", "4711"},
                               {"TORCHELASTIC_RUN_ID", "none"}});
    EXPECT_EQ(place.launcher, "torchrun");
    EXPECT_EQ(place.rank, 9);
    EXPECT_EQ(place.world_size, 16);
    EXPECT_FALSE(place.node_rank.has_value());  // Slurm's number is not torchrun's
}

TEST(JobPlace, IdsOfJobsMayComeFromTheScheduler) {
    EXPECT_EQ(place_in({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"SLURM_JOB_ID", "4711"}}).job, "4711");
    EXPECT_EQ(place_in({{"TORCHELASTIC_RUN_ID", "mine"}, {"SLURM_JOB_ID", "4711"}}).job, "mine");
    EXPECT_EQ(place_in({{"TORCHELASTIC_RUN_ID", "none"}, {"SLURM_JOB_ID", "4711"}}).job, "4711");
    EXPECT_EQ(place_in({{"TORCHELASTIC_RUN_ID", "none"}}).job, "");
}

TEST(JobPlace, NumbersThatAreNone) {
    for (const char* rank : {"", " 1", "-1", "1x", "0x1", "+1", "1.0", "99999999999999999999", "2147483648"})
        EXPECT_FALSE(place_in({{"PMIX_RANK", rank}}).rank.has_value()) << rank;
    EXPECT_EQ(place_in({{"PMIX_RANK", "2147483647"}}).rank, 2147483647);
    EXPECT_FALSE(place_in({{"RANK", "8"}, {"WORLD_SIZE", "8"}}).rank.has_value());
    EXPECT_FALSE(place_in({{"RANK", "8"}}).rank.has_value());
    // A batch script of Slurm is no rank, although its SLURM_PROCID is 0.
    EXPECT_FALSE(place_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}).rank.has_value());
    EXPECT_EQ(place_in({{"RANK", "8"}, {"WORLD_SIZE", "8"}, {"PMI_RANK", "3"}, {"PMI_SIZE", "8"}}).launcher, "Hydra");
}

}  // namespace
}  // namespace gpuprof::test
